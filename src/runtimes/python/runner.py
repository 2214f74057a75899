"""Loads a Python model of a carton and answers modelport: python -I -B runner.py modelport_wire.py"""

import ast
import asyncio
import faulthandler
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import platform
import sys

PACKAGE = "_carton_model_module"
DEFAULT_FUNCTION = "get_model"


def load_wire(path):
    spec = importlib.util.spec_from_file_location("modelport_wire", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wire = load_wire(sys.argv[1])
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


def settle(value):
    """The result of what may be a coroutine."""
    return loop.run_until_complete(value) if inspect.isawaitable(value) else value


def find_numpy(folder):
    """NumPy of the environment; else that of the interpreter it was made from, and nothing else that lies beside it."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        if folder is None:
            raise wire.Failure("missing", "its Python environment has no NumPy") from None
        sys.path.append(folder)
        try:
            import numpy  # noqa: F401
        finally:
            sys.path.remove(folder)


def open_package(folder):
    """The folder as the package that relative imports count from; also on the search path, for modules that name each other plainly."""
    first = os.path.join(folder, "__init__.py")
    sys.path.insert(0, folder)
    if os.path.isfile(first):
        spec = importlib.util.spec_from_file_location(PACKAGE, first, submodule_search_locations=[folder])
    else:
        spec = importlib.machinery.ModuleSpec(PACKAGE, None, is_package=True)
        spec.submodule_search_locations = [folder]
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def defines(path, function):
    """Whether a file has a function at its top level. Nothing of it runs."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return False
    return any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == function for node in body)


def find_module(folder, function):
    """Without the option: main, else the only top-level module with such a function."""
    files = {name[:-3]: os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")}
    packages = {name: os.path.join(folder, name, "__init__.py") for name in os.listdir(folder)}
    candidates = {**{name: path for name, path in packages.items() if os.path.isfile(path)}, **files}
    found = sorted(name for name, path in candidates.items() if name.isidentifier() and name != "__init__" and defines(path, function))
    if "main" in found:
        return "main"
    if len(found) == 1:
        return found[0]
    which = "no top-level module has" if len(found) == 0 else "several modules have (%s)" % ", ".join(found)
    raise wire.Failure(
        "model",
        "it does not say where it begins, and %s a function %s" % (which, function),
        "Name both by the options entrypoint_package and entrypoint_fn, as in --opt 'entrypoint_package=\"main\"'",
    )


def open_model(folder, options):
    function = options.get("entrypoint_fn") or DEFAULT_FUNCTION
    name = options.get("entrypoint_package") or find_module(folder, function)
    open_package(folder)
    module = importlib.import_module("%s.%s" % (PACKAGE, name))
    entry = getattr(module, function, None)
    if not callable(entry):
        raise wire.Failure("model", "its module %s has no function %s (entrypoint_package, entrypoint_fn)" % (name, function))
    start = "model."
    return settle(entry(**{key[len(start) :]: value for key, value in options.items() if key.startswith(start)}))


def to_call(model):
    """The one way to ask a model, whichever it has."""
    if hasattr(model, "infer_with_tensors"):
        return model.infer_with_tensors
    if hasattr(model, "seal") and hasattr(model, "infer_with_handle"):
        return lambda inputs: model.infer_with_handle(settle(model.seal(inputs)))
    raise wire.Failure(
        "model",
        "its entry point gives %s, which has neither infer_with_tensors nor both of seal and infer_with_handle" % type(model).__name__,
    )


def list_results(result):
    """One result, or all of a model that streams."""
    result = settle(result)
    if isinstance(result, dict):
        yield result
    elif hasattr(result, "__anext__") or hasattr(result, "__aiter__"):
        yield from list_async(result)
    elif inspect.isgenerator(result):
        yield from result
    else:
        raise wire.Failure("output", "it gives %s, expected a dictionary of NumPy arrays or an async iterator of them" % type(result).__name__)


def list_async(result):
    items = result.__aiter__()
    try:
        while True:
            try:
                item = loop.run_until_complete(next_of(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        if hasattr(items, "aclose"):
            loop.run_until_complete(items.aclose())


async def next_of(items):
    return await items.__anext__()


def check_outputs(outputs):
    if not isinstance(outputs, dict):
        raise wire.Failure("output", "it gives %s among its results, expected a dictionary of NumPy arrays" % type(outputs).__name__)
    return [(name, wire.check_output(name, value)) for name, value in outputs.items()]


def load(frame):
    find_numpy(frame.header.get("numpy"))
    folder = frame.header["folder"]
    os.chdir(folder)
    call = to_call(open_model(folder, wire.options_of(frame.header)))

    def infer(tensors):
        inputs = {name: wire.to_array(tensor) for name, tensor in tensors.items()}
        for outputs in list_results(call(inputs)):
            yield check_outputs(outputs)

    return infer


if __name__ == "__main__":
    faulthandler.enable(all_threads=False)
    wire.serve("python", "1", platform.python_version, load, {__file__})
