# Python finds this file first because `vigil run --calls` puts its folder in front of PYTHONPATH. It starts the
# counting, takes the folder out of sys.path again, and then lets the sitecustomize that would have been found
# without it run in its own name. It must be readable for any Python, 2 included, and must never be noticed.
import os
import sys


def _begin(here):
    if not os.environ.get("VIGIL_CALLS_DIR") or sys.version_info < (3, 8) or "_vigil_calls" in sys.modules:
        return None
    try:
        from importlib.util import module_from_spec, spec_from_file_location
        spec = spec_from_file_location("_vigil_calls", os.path.join(here, "vigil_calls.py"))
        module = module_from_spec(spec)
        sys.modules["_vigil_calls"] = module
        spec.loader.exec_module(module)
        return module
    except Exception:
        return None


def _next_python2(path):
    import imp
    file, name, kind = imp.find_module("sitecustomize", path)
    del sys.modules["sitecustomize"]
    imp.load_module("sitecustomize", file, name, kind)


def _next(path):
    """Run the one that this file hides, as if it had been found first."""
    if sys.version_info < (3, 4):
        return _next_python2(path)
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        # what the import system says when there is none; `site` passes over it
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _chain():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    counter = _begin(here)
    try:
        _next(list(sys.path))
    finally:
        if counter is not None:
            counter.begin()


_chain()
