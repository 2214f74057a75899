"""Loads a TorchScript model and answers modelport: python -I -B torchscript_runner.py modelport_wire.py"""

import faulthandler
import importlib.util
import json
import os
import sys


def load_wire(path):
    spec = importlib.util.spec_from_file_location("modelport_wire", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wire = load_wire(sys.argv[1])
torch = None

IN = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8")


def torch_version():
    global torch
    import torch as found

    torch = found
    return str(torch.__version__)


def choose_device(device):
    if device == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    raise wire.Failure("missing", "torch %s sees no GPU %s" % (torch.__version__, json.dumps(device)), "Leave --device away to run on the CPU")


def to_torch(name, tensor, device):
    """A tensor; text of no dimension as str, of one as a list of str: TorchScript has no other."""
    if isinstance(tensor, list):
        raise wire.Failure("input", "its input %s is nested, which TorchScript does not have" % json.dumps(name))
    dtype, shape, _ = tensor
    if dtype == "string":
        if len(shape) > 1:
            raise wire.Failure("input", "its input %s is text of %d dimensions, and TorchScript takes one at most" % (json.dumps(name), len(shape)))
        return wire.to_array(tensor).tolist()
    if dtype not in IN:
        raise wire.Failure("input", "its input %s has the dtype %s, which TorchScript does not have" % (json.dumps(name), dtype))
    return torch.from_numpy(wire.to_array(tensor)).to(device)


def from_torch(name, value):
    import numpy

    if isinstance(value, str):
        return numpy.array(value, dtype=str)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return numpy.array(value, dtype=str)
    if not isinstance(value, torch.Tensor):
        raise wire.Failure("output", "its output %s is %s, expected a tensor, text or a list of texts" % (json.dumps(name), type(value).__name__))
    dtype = str(value.dtype).replace("torch.", "")
    if dtype not in IN:
        raise wire.Failure("output", "its output %s has the dtype %s, expected one of %s" % (json.dumps(name), dtype, ", ".join(IN)))
    return value.detach().cpu().numpy()


def count_tensors(model):
    """How many tensors `forward` takes side by side; None for the one dictionary of Carton."""
    kinds = [str(argument.type) for argument in model.forward.schema.arguments[1:] if not argument.has_default_value()]
    return len(kinds) if len(kinds) > 0 and all(kind == "Tensor" for kind in kinds) else None


def in_order(names, declared):
    return [name for name in declared if name in names] + [name for name in names if name not in declared]


def name_outputs(result, declared):
    if isinstance(result, dict):
        return result
    values = list(result) if isinstance(result, (list, tuple)) and not all(isinstance(item, str) for item in result) else [result]
    names = declared or (["output"] if len(values) == 1 else ["output_%d" % index for index in range(len(values))])
    if len(names) != len(values):
        raise wire.Failure("output", "it gives %d values, and the package declares %d outputs" % (len(values), len(names)))
    return dict(zip(names, values))


def set_threads(options):
    if "num_threads" in options:
        torch.set_num_threads(options["num_threads"])
    if "num_interop_threads" in options:
        torch.set_num_interop_threads(options["num_interop_threads"])


def load(frame):
    header = frame.header
    set_threads(wire.options_of(header))
    device = choose_device(header["device"])
    os.chdir(header["folder"])
    path = os.path.join(header["folder"], header["file"])
    model = torch.jit.load(path, map_location=device)
    model.eval()
    count = count_tensors(model)

    def infer(tensors):
        inputs = {name: to_torch(name, tensors[name], device) for name in in_order(tensors, header["inputs"])}
        if count is not None and len(inputs) != count:
            raise wire.Failure("input", "its model takes %d tensors, and %d are given: %s" % (count, len(inputs), ", ".join(map(json.dumps, inputs))))
        with torch.no_grad():
            result = model(inputs) if count is None else model(*inputs.values())
        outputs = name_outputs(result, header["outputs"])
        yield [(name, from_torch(name, value)) for name, value in outputs.items()]

    return infer


if __name__ == "__main__":
    faulthandler.enable(all_threads=False)
    wire.serve("torchscript", "1", torch_version, load, {__file__})
