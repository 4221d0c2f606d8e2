"""The fixtures of the end-to-end tests, for jobs that use real frameworks."""
import importlib.util
import pathlib

_path = pathlib.Path(__file__).resolve().parents[1] / "e2e/conftest.py"
_spec = importlib.util.spec_from_file_location("e2e_fixtures", _path)
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)

binary, state, vigil = _fixtures.binary, _fixtures.state, _fixtures.vigil
