"""Frames of modelport over the file descriptors 3 (from modelport) and 4 (to it); see frame.ts. Python 3.8 or newer, and NumPy for tensors."""

import json
import os
import queue
import select
import signal
import threading
import time
import traceback

PROTOCOL = 1
MAGIC = b"MPR1"
HEADER_LIMIT = 1024 * 1024
DTYPES = (
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


class Failure(Exception):
    """Something that is said to the user as it is. `reason` is model, input, output or missing."""

    def __init__(self, reason, message, hint=None, trace=None):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint
        self.trace = trace


class Frame:
    def __init__(self, header, tensors):
        self.id = header["id"]
        self.type = header["type"]
        self.header = header
        self.tensors = tensors


class Channel:
    """Reads in a thread of its own, so that a cancel, or the end of modelport, is noticed while the model computes."""

    def __init__(self, source=3, sink=4):
        for descriptor in (source, sink):
            os.set_inheritable(descriptor, False)
            os.set_blocking(descriptor, True)
        self._source = source
        self._sink = sink
        self._frames = queue.Queue()
        self._cancelled = set()
        _watch_parent(source)
        threading.Thread(target=self._read_all, daemon=True).start()

    def receive(self):
        """The next frame, or None when there is nothing more to do."""
        return self._frames.get()

    def is_cancelled(self, number):
        return number in self._cancelled

    def send(self, number, kind, tensors=(), **fields):
        """`tensors` are pairs of a name and an array or a list of arrays; they have been checked."""
        pieces = []
        described = [_describe(name, value, pieces) for name, value in tensors]
        header = json.dumps({**fields, "id": number, "type": kind, "tensors": described}).encode("utf-8")
        if len(header) > HEADER_LIMIT:
            raise Failure("output", "the names and shapes of its outputs take %d bytes, and at most %d can be sent" % (len(header), HEADER_LIMIT))
        out = [MAGIC + len(header).to_bytes(4, "little") + header]
        offset = len(out[0])
        for piece in pieces:
            padding = -offset % 8
            offset += padding + len(piece)
            out += [b"\0" * padding, piece]
        self._write(out)

    def fail(self, number, failure):
        fields = {"reason": failure.reason, "message": failure.message[:4096]}
        if failure.hint is not None:
            fields["hint"] = failure.hint[:4096]
        if failure.trace is not None:
            fields["traceback"] = failure.trace[-8192:]
        self.send(number, "error", **fields)

    def _write(self, pieces):
        small = b""
        for piece in pieces:
            if len(small) + len(piece) <= 65536:
                small += bytes(piece)
                continue
            self._write_all(small)
            small = b""
            self._write_all(piece)
        self._write_all(small)

    def _write_all(self, piece):
        view = memoryview(piece)
        while len(view) > 0:
            # Bounded: some systems refuse more than 2 GiB at a time.
            view = view[os.write(self._sink, view[: 1 << 26]) :]

    def _read_all(self):
        try:
            frame = self._read_frame()
            while frame is not None and frame.type != "close":
                if frame.type == "cancel":
                    self._cancelled.add(frame.id)
                else:
                    self._frames.put(frame)
                frame = self._read_frame()
            if frame is not None:
                # Asked to leave: a model that is at work is not waited for much longer. Without a word modelport is dead, and nothing may stay.
                self._frames.put(None)
                time.sleep(1.0)
        except Exception:
            traceback.print_exc()
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def _read_frame(self):
        prefix = self._read(8)
        if prefix is None:
            return None
        length = int.from_bytes(prefix[4:], "little")
        if prefix[:4] != MAGIC or length > HEADER_LIMIT:
            raise ValueError("modelport sent something that is no frame")
        header = json.loads(self._must(length))
        offset = 8 + length
        tensors = {}
        for described in header.get("tensors", ()):
            inner = described["inner"] if described["dtype"] == "nested" else [described]
            arrays = []
            for piece in inner:
                padding = -offset % 8
                self._must(padding)
                arrays.append((piece["dtype"], piece["shape"], self._must(piece["bytes"])))
                offset += padding + piece["bytes"]
            tensors[described["name"]] = arrays if described["dtype"] == "nested" else arrays[0]
        return Frame(header, tensors)

    def _must(self, length):
        data = self._read(length)
        if data is None:
            raise EOFError("modelport went away within a frame")
        return data

    def _read(self, length):
        data = bytearray(length)
        view = memoryview(data)
        filled = 0
        while filled < length:
            count = os.readv(self._source, [view[filled : filled + (1 << 26)]])
            if count == 0:
                if filled == 0:
                    return None
                raise EOFError("modelport went away within a frame")
            filled += count
        return data


def _watch_parent(source):
    """
    Starts a process that kills the group when modelport is gone: the thread that reads may wait for ever for a model that never lets other threads
    run. It is nobody's child, so that a model that waits for its own does not wait for it.
    """
    group = os.getpid()
    if not hasattr(os, "fork") or os.getpgrp() != group:
        return
    between = os.fork()
    if between > 0:
        os.waitpid(between, 0)
        return
    try:
        if os.fork() == 0:
            os.closerange(0, source)
            os.closerange(source + 1, 256)
            poll = select.poll()
            # No events but the end of the connection, which is always told.
            poll.register(source, 0)
            poll.poll()
            os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)


def to_array(tensor):
    """What came in a frame as a NumPy array (writable), or as a list of arrays."""
    import numpy

    if isinstance(tensor, list):
        return [to_array(inner) for inner in tensor]
    dtype, shape, data = tensor
    if dtype == "string":
        return numpy.array(json.loads(data.decode("utf-8")), dtype=str).reshape(shape)
    if dtype not in DTYPES:
        raise Failure("input", "it is given the dtype %s, which this runtime does not have" % dtype)
    if len(data) == 0:
        return numpy.empty(shape, dtype=dtype)
    return numpy.frombuffer(data, dtype=numpy.dtype(dtype).newbyteorder("<")).astype(dtype, copy=False).reshape(shape)


def check_output(name, value):
    """An array, or a list of arrays, of dtypes that a carton can hold; else a Failure that names output and dtype."""
    import numpy

    if not isinstance(name, str):
        raise Failure("output", "it gives an output whose name is %s, expected text" % type(name).__name__)
    if isinstance(value, (list, tuple)) and all(isinstance(inner, numpy.ndarray) for inner in value):
        return [check_output(name, inner) for inner in value]
    if isinstance(value, numpy.generic):
        value = numpy.asarray(value)
    if not isinstance(value, numpy.ndarray):
        found = type(value).__name__
        raise Failure("output", "its output %s is %s, expected a NumPy array or a list of them" % (json.dumps(name), found))
    if value.dtype.kind != "U" and value.dtype.name not in DTYPES:
        hint = {"O": "Text is numpy.array([...], dtype=str)", "b": "Convert it, for example to uint8", "S": "Text is numpy.array([...], dtype=str)"}
        raise Failure(
            "output",
            "its output %s has the dtype %s, expected one of %s or str" % (json.dumps(name), value.dtype.name, ", ".join(DTYPES)),
            hint.get(value.dtype.kind, "Convert it with astype"),
        )
    return value


def _describe(name, value, pieces):
    if isinstance(value, list):
        return {"name": name, "dtype": "nested", "inner": [_describe_plain(inner, pieces) for inner in value]}
    return {"name": name, **_describe_plain(value, pieces)}


def _describe_plain(value, pieces):
    import numpy

    if value.dtype.kind == "U":
        dtype = "string"
        data = json.dumps(value.ravel().tolist()).encode("utf-8")
    else:
        dtype = value.dtype.name
        flat = numpy.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"), copy=False)).reshape(-1)
        data = memoryview(flat).cast("B") if flat.size > 0 else b""
    pieces.append(data)
    return {"dtype": dtype, "shape": list(value.shape), "bytes": len(data)}


def options_of(header):
    """The options of the model with their types: text, integer, float or boolean."""
    convert = {"text": str, "integer": int, "float": float, "boolean": lambda text: text == "true"}
    return {option["name"]: convert[option["type"]](option["value"]) for option in header.get("options", ())}


def describe_error(error, folder, ours):
    """A Failure in the words of Python, with the calls within the model and what it calls; none of ours."""
    if isinstance(error, Failure):
        return error
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename not in ours and not frame.filename.startswith("<frozen ")
    ]
    shown = [traceback.FrameSummary(_within(frame.filename, folder), frame.lineno, frame.name, line=frame.line) for frame in frames]
    said = "".join(traceback.format_exception_only(type(error), error)).strip()
    if len(shown) > 0:
        said += " (%s:%s in %s)" % (shown[-1].filename, shown[-1].lineno, shown[-1].name)
    return Failure("model", said, trace="".join(traceback.format_list(shown)))


def _within(filename, folder):
    relative = os.path.relpath(filename, folder)
    return filename if relative.startswith("..") else relative


def serve(runtime, version, framework_version, load, ours):
    """Says hello, and answers until modelport has no more questions. `load(frame)` gives a function of inputs, which yields outputs."""
    channel = Channel()
    ours = {__file__, *ours}
    try:
        channel.send(0, "hello", protocol=PROTOCOL, runtime=runtime, version=version, frameworkVersion=framework_version())
    except BaseException as error:
        channel.fail(0, describe_error(error, os.getcwd(), ours))
        return
    infer = None
    while True:
        frame = channel.receive()
        if frame is None:
            return
        try:
            if frame.type == "load":
                infer = load(frame)
            elif frame.type == "infer":
                _answer(channel, frame, infer)
            channel.send(frame.id, "end")
        except BaseException as error:
            channel.fail(frame.id, describe_error(error, os.getcwd(), ours))


def _answer(channel, frame, infer):
    results = infer(frame.tensors)
    try:
        for outputs in results:
            if channel.is_cancelled(frame.id):
                return
            channel.send(frame.id, "item", outputs)
    finally:
        results.close()
