"""Looking into Pythons from outside: which one it is, what its functions are called, on which line they are and what
their variables hold. Every Python of this machine (tests/pythons.py), through tests/tool/pypeek and pylines."""
import contextlib
import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import ROOT, WORKLOADS, wait_for  # noqa: E402

FOUND = pythons.find(at_least=(3, 8))
OLDER = [p for p in pythons.find(at_least=(3, 0)) if p.version < (3, 8)]
every_python = pytest.mark.parametrize("python", FOUND, ids=str)
SYSTEM = pathlib.Path("/usr/bin/python3")
HELD_LINE = 1 + (WORKLOADS / "variables.py").read_text().splitlines().index("    sys.stdin.read()  # held")


@pytest.fixture(scope="module")
def tool(binary):
    """tool("pypeek") is the path of a built test tool."""
    def path(name):
        built = binary.parents[2] / "tests/tool" / name
        built = built if built.exists() else ROOT / "build/tests/tool" / name
        assert built.exists(), f"{built} is not built"
        return built
    return path


@contextlib.contextmanager
def held(argv, env=None, **popen):
    """A process that has said ready and waits for its stdin to end."""
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, **popen)
    try:
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


@contextlib.contextmanager
def held_by(python, script=WORKLOADS / "variables.py"):
    placed = python.place(script)
    try:
        with held([*python.argv, placed], env=python.env()) as process:
            yield process, placed
    finally:
        python.unplace(placed)


@pytest.fixture
def peek(tool):
    def look(pid):
        done = subprocess.run([tool("pypeek"), str(pid)], capture_output=True, text=True, timeout=20, check=True)
        return json.loads(done.stdout)
    return look


def frames(seen):
    return seen["threads"][0]["frames"] if seen["threads"] else []


def waiting(peek, pid):
    """What is seen once the process waits on its line."""
    return wait_for(lambda: next((s for s in [peek(pid)] if frames(s) and frames(s)[0]["line"] == HELD_LINE), None),
                    what=f"the innermost frame to be on line {HELD_LINE}")


@every_python
def test_its_version_its_functions_and_its_lines_are_seen(python, peek):
    with held_by(python) as (process, placed):
        seen = waiting(peek, process.pid)
    assert seen["result"] == "ok"
    assert seen["version"].startswith("%d.%d." % python.version)
    assert seen["free_threaded"] == python.free_threaded
    assert seen["version"].endswith(" free-threaded") == python.free_threaded
    inner, method, module = frames(seen)
    assert (inner["name"], module["name"]) == ("inner", "<module>")
    assert method["name"] == ("C.method" if python.version >= (3, 11) else "method")
    assert {f["file"] for f in frames(seen)} == {placed}
    text = (WORKLOADS / "variables.py").read_text().splitlines()
    assert "return inner(1" in text[method["line"] - 1] and text[module["line"] - 1] == "C().method()"


VARIABLES = {
    "a": "1", "b": "2", "rest": "()", "key": "'w'", "kw": "{'more': 3}",
    "nothing": "None", "yes": "True", "small": "-5", "big": "1000000000000000000", "huge": "int of 201 bits",
    "tenth": "0.1", "large": "1e+16", "tiny": "-2.5e-07", "endless": "inf",
    "text": '"h\u00e9llo\\n\'"', "wide": "'\U0001f600 \u4e2d'", "long": f"'{'x' * 80}'...", "raw": r"b'by\x00tes\xff'",
    "one": "(1,)", "empty": "()", "nest": "[1, [2, [3, <list>]]]",
    "many": f"[{', '.join(map(str, range(16)))}, ... 84 more]",
    "d": "{'k': {'d': [1]}, 5: None}", "s": "{7}", "fs": "frozenset({'q'})", "point": "Point(1, 'z')",
    "ordered": "collections.OrderedDict({'a': 1})", "split": "{'a': 1, 'b': 'two'}", "circle": "[...]",
    "cls": "<class 'Meta'>", "half": r"'\ud800'",
    "big_dict": f"{{{', '.join(f'{i}: {i * i}' for i in range(16))}, ... 984 more}}",
    "removed": "{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}",
}


@every_python
def test_its_variables_are_seen(python, peek):
    with held_by(python) as (process, _):
        inner = frames(waiting(peek, process.pid))[0]
    shown = inner["locals"]
    assert {k: shown.get(k) for k in VARIABLES} == VARIABLES
    assert shown["plain"].startswith("<object at 0x") and shown["closure"].startswith("<function at 0x")
    assert shown["big_set"].endswith(", ... 484 more}")
    assert "gone" not in shown
    assert inner["args"] == ["a", "b", "key", "rest", "kw"]


@every_python
def test_its_line_tables_are_read_as_it_reads_them_itself(python, tool):
    """VIGIL_TEST_ALL_LINES=1 compares the whole standard library instead of 60 files."""
    count = "0" if os.environ.get("VIGIL_TEST_ALL_LINES") else "60"
    placed = python.place(WORKLOADS / "linetables.py")
    try:
        made = subprocess.run([*python.argv, "-W", "ignore", placed, count], env=python.env(), capture_output=True,
                              text=True, timeout=900, check=True).stdout
    finally:
        python.unplace(placed)
    rows = [line.split("\t") for line in made.splitlines()]
    assert len(rows) > 300
    asked = "".join(f"{minor} {first} {table}\n" for minor, first, table, _, _ in rows)
    ours = subprocess.run([tool("pylines")], input=asked, capture_output=True, text=True, timeout=300, check=True)
    answers = ours.stdout.splitlines()
    assert len(answers) == len(rows)
    for (_, first, table, size, theirs), answer in zip(rows, answers):
        within = [r for r in answer.split() if int(r.partition(":")[0]) < int(size)]
        assert within == theirs.split(), (python.label, first, table)


@pytest.mark.parametrize("python", OLDER, ids=str)
def test_a_python_too_old_is_refused_by_name(python, peek):
    with held([*python.argv, "-uc", "print('ready'); input()"], env=python.env()) as process:
        seen = peek(process.pid)
    assert seen["result"] == "unknown"
    assert "Python %d.%d is older than 3.8" % python.version in seen["text"]


def test_a_program_that_only_has_the_name_of_another_python_is_named(tmp_path, peek):
    for name, said in (("pypy3.9", "PyPy, not CPython"), ("graalpy", "GraalPy, not CPython")):
        copy = tmp_path / name
        shutil.copyfile("/bin/cat", copy)
        copy.chmod(0o755)
        process = subprocess.Popen([copy], stdin=subprocess.PIPE)
        try:
            wait_for(lambda: pathlib.Path(f"/proc/{process.pid}/exe").resolve().name == name)
            seen = peek(process.pid)
        finally:
            process.kill()
            process.communicate(timeout=20)
        assert seen["result"] == "unknown" and said in seen["text"]


# The shapes below are made from the system's Python, one program with everything in it.
static = pytest.mark.skipif(not SYSTEM.exists() or b"libpython" in subprocess.run(
    ["ldd", SYSTEM], capture_output=True).stdout, reason="the system's Python is not one program with everything in it")
HOLD = "import sys\ndef here():\n print('ready', flush=True); sys.stdin.read()\nhere()"


def copy_of_python(tmp_path, name, change):
    """The system's Python with its bytes changed."""
    copy = tmp_path / name
    data = bytearray(SYSTEM.resolve().read_bytes())
    change(data)
    copy.write_bytes(data)
    copy.chmod(0o755)
    return copy


def check_found(peek, argv, minor=int(platform.python_version_tuple()[1]), before=None):
    with held(argv, env={**os.environ, "PYTHONHOME": "/usr"}) as process:
        if before:
            before(process)
        seen = wait_for(lambda: next((s for s in [peek(process.pid)] if frames(s)), None))
    assert seen["result"] == "ok" and seen["code_type"]
    assert frames(seen)[0]["name"] == "here"
    return seen


def without_sections(data):
    """As `sstrip` leaves a file: no table of sections."""
    struct.pack_into("<Q", data, 40, 0)
    struct.pack_into("<HHH", data, 58, 0, 0, 0)


def without_symbols(data):
    """No symbol has the name any more."""
    for name in (b"\0_PyRuntime\0", b"\0PyCode_Type\0", b"\0Py_Version\0"):
        at = data.find(name)
        assert at > 0
        data[at + 1:at + 3] = b"Xx"


def without_anything(data):
    without_symbols(data)
    without_sections(data)


@static
@pytest.mark.parametrize("change", [without_sections, without_symbols, without_anything],
                         ids=["no-sections", "no-symbols", "neither"])
@pytest.mark.parametrize("name", ["python3.11", "python", "program"])
def test_a_stripped_python_is_found_all_the_same(tmp_path, peek, change, name):
    if SYSTEM.resolve().name != "python3.11":
        pytest.skip("the system's Python is not 3.11")
    copy = copy_of_python(tmp_path, name, change)
    check_found(peek, [copy, "-Sc", "import _bz2\n" + HOLD])


LOOKS_LIKE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Two words that lead to what leads back, as interpreters.head and .main of 3.11 do, and nothing behind it. */
static void *pair[2];
int main(void) {
	void **interpreter = calloc(1 << 16, 8), **thread = calloc(1 << 10, 8);
	pair[0] = pair[1] = interpreter;
	interpreter[2] = thread;
	thread[2] = interpreter;
	puts("ready"); fflush(stdout);
	for (;;) pause();
}
"""


@pytest.mark.parametrize("folder", ["python3.11/site-packages/some/server", "lib"])
def test_a_server_in_a_pythons_folder_is_no_python(vigil, peek, begin, tmp_path, folder):
    compiler = shutil.which("gcc")
    if not compiler:
        pytest.skip("no compiler here")
    where = tmp_path / folder
    where.mkdir(parents=True)
    (where / "server.c").write_text(LOOKS_LIKE.replace("ready", "begun"))
    subprocess.run([compiler, "-o", where / "server", where / "server.c"], check=True)
    process = begin([where / "server"])
    assert peek(process.pid)["result"] == "none"
    shown = vigil("stack", process.pid, "--json").json()["processes"][0]
    assert "python" not in shown and "main" in [f["name"] for f in shown["threads"][0]["frames"]], shown


@static
def test_a_python_whose_file_was_removed_is_found(tmp_path, peek):
    copy = copy_of_python(tmp_path, "python3", lambda data: None)
    check_found(peek, [copy, "-Sc", HOLD], before=lambda _: copy.unlink())


@every_python
def test_a_python_whose_library_was_damaged_meanwhile_is_found_by_its_memory(python, peek, tmp_path):
    """As an upgrade does that writes into the file instead of replacing it: no header can be read any more."""
    if python.chroot or "built" in python.label:
        pytest.skip("its library cannot be copied")
    program = pathlib.Path(shutil.which(python.argv[0])).resolve()
    libraries = list(program.parents[1].glob("lib/libpython3.*.so.1.0"))
    if not libraries:
        pytest.skip("it has no library of its own")
    copy = tmp_path / libraries[0].name
    shutil.copyfile(libraries[0], copy)
    env = python.env(LD_LIBRARY_PATH=str(tmp_path))
    with held([*python.argv, "-uSc", HOLD], env=env) as process:
        assert str(copy) in pathlib.Path(f"/proc/{process.pid}/maps").read_text()
        with open(copy, "r+b") as f:
            f.write(b"\0" * 4)
        seen = wait_for(lambda: next((s for s in [peek(process.pid)] if frames(s)), None))
    assert seen["result"] == "ok" and seen["version"].startswith("%d.%d" % python.version)
    assert frames(seen)[0]["name"] == "here"
    assert seen["code_type"]


@every_python
def test_a_second_runtime_that_is_mapped_but_never_started_is_passed_over(python, peek, tmp_path):
    others = [p for p in FOUND if p.version != python.version and not p.chroot]
    libraries = [lib for p in others for lib in pathlib.Path(p.argv[0]).resolve().parents[1].glob("lib/libpython3.*.so.1.0")]
    if python.chroot or not libraries:
        pytest.skip("no second library can be mapped into it")
    copy = tmp_path / "libpython3.so.1.0.so"
    shutil.copyfile(libraries[0], copy)
    hold = f"import ctypes, os; ctypes.CDLL({str(copy)!r}, os.RTLD_LOCAL | os.RTLD_LAZY)\n{HOLD}"
    with held([*python.argv, "-c", hold], env=python.env()) as process:
        seen = wait_for(lambda: next((s for s in [peek(process.pid)] if s["result"] != "ok" or frames(s)), None))
    assert seen["result"] == "ok" and seen["version"].startswith("%d.%d." % python.version)
    assert str(copy) != seen["file"] and frames(seen)[0]["name"] == "here"


@static
def test_a_process_that_cannot_be_read_is_said_to_be_closed(tool, as_nobody):
    if not as_nobody:
        pytest.skip("only root can give its rights away")
    with held([SYSTEM, "-c", HOLD]) as process:
        done = subprocess.run([*as_nobody, tool("pypeek"), str(process.pid)], capture_output=True, text=True, timeout=20)
    assert json.loads(done.stdout)["result"] == "denied"


NUMPY_SCALARS = {
    "numpy.bool_(True)": "True", "numpy.int8(-8)": "-8", "numpy.int16(-300)": "-300", "numpy.int32(7)": "7",
    "numpy.int64(-(1 << 62))": str(-(1 << 62)), "numpy.longlong(5)": "5", "numpy.uint8(255)": "255",
    "numpy.uint16(65535)": "65535", "numpy.uint32(4000000000)": "4000000000", "numpy.uint64(2**64 - 1)": str(2**64 - 1),
    "numpy.float16(0.1)": "0.1", "numpy.float16(65504)": "65504.0", "numpy.float16(6e-8)": "6e-08",
    "numpy.float32(0.1)": "0.1", "numpy.float32(-1.5e-30)": "-1.5e-30", "numpy.float64(0.1)": "0.1",
    "numpy.float64('nan')": "nan", "numpy.float16('-inf')": "-inf", "numpy.longdouble(2.5)": "2.5",
    "numpy.complex64(1 - 2j)": "1.0-2.0j", "numpy.complex128(0.1j)": "0.0+0.1j",
    "numpy.datetime64('2023-12-31')": "19722 D", "numpy.timedelta64(90, 's')": "90 s", "numpy.datetime64('NaT')": "NaT"}


def pythons_with_numpy():
    """The system's, and one of another version of numpy where there is one (VIGIL_NUMPY_PYTHON)."""
    return [p for p in (SYSTEM, os.environ.get("VIGIL_NUMPY_PYTHON")) if p]


@static
@pytest.mark.parametrize("python", pythons_with_numpy())
def test_scalars_of_numpy_are_shown(peek, python):
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        pytest.skip(f"{python} has no numpy")
    program = ("import numpy, sys\ndef here():\n" + "".join(f" v{i} = {e}\n" for i, e in enumerate(NUMPY_SCALARS)) +
               " print('ready', flush=True); sys.stdin.read()\nhere()")
    names = subprocess.run([python, "-c", "import numpy\n" + "".join(f"print(type({e}).__name__)\n" for e in NUMPY_SCALARS)],
                           capture_output=True, text=True, check=True).stdout.split()
    with held([python, "-c", program]) as process:
        shown = wait_for(lambda: next((f for f in frames(peek(process.pid)) if f["name"] == "here"), None))["locals"]
    assert shown == {f"v{i}": f"numpy.{n}({v})" for i, (n, v) in enumerate(zip(names, NUMPY_SCALARS.values()))}


@static
def test_the_shape_of_a_numpy_array_is_shown(peek):
    if subprocess.run([SYSTEM, "-c", "import numpy"], capture_output=True).returncode:
        pytest.skip("the system's Python has no numpy")
    program = ("import numpy, sys\ndef here():\n a = numpy.zeros((3, 4), 'f4'); b = numpy.arange(5); c = numpy.array(1.5)\n"
               " print('ready', flush=True); sys.stdin.read()\nhere()")
    with held([SYSTEM, "-c", program]) as process:
        shown = wait_for(lambda: next((f for f in frames(peek(process.pid)) if f["name"] == "here"), None))["locals"]
    assert shown == {"a": "<numpy.ndarray shape (3, 4) dtype float32>", "b": "<numpy.ndarray shape (5,) dtype int64>",
                     "c": "<numpy.ndarray shape () dtype float64>"}
