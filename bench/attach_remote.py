#!/usr/bin/python3
"""The heap sampler into a running CPython 3.14 in two ways: vigil's own injection, and sys.remote_exec with ctypes.

    attach_remote.py [--build DIR] [--times N=15]

Fresh programs each time: `loop` does little steps of Python all the time, `sleep` waits in time.sleep(), `native` is in one call
of C that takes seconds. Printed: how many had a profile within a second, the longest time that the loop's thread worked on
something else (its own processor time, so other programs are not in it; `nothing` is the same without an attach), the longest and all of the time
that vigil had it stopped, how many modules and mappings there were more afterwards. Decision 23.
"""
import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]
import pythons  # noqa: E402

TARGET = """
import sys, time
kind = sys.argv[1]
def maps():
    return sum(1 for _ in open("/proc/self/maps"))
print("ready", flush=True)
modules, mapped, longest, until = len(sys.modules), maps(), 0.0, time.monotonic() + 1.5
if kind == "sleep":
    time.sleep(1.5)
elif kind == "native":
    import hashlib
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 8_000_000)
else:
    last = time.thread_time()
    while time.monotonic() < until:
        kept = [bytearray(20000) for _ in range(10)]
        now = time.thread_time()
        longest, last = max(longest, now - last), now
print(longest * 1000, len(sys.modules) - modules, maps() - mapped, flush=True)
"""
SCRIPT = """
import ctypes
class Block(ctypes.Structure):
    _fields_ = [("magic", ctypes.c_uint64), ("rate", ctypes.c_uint64), ("prepared", ctypes.c_uint32), ("why", ctypes.c_uint32),
                ("files", ctypes.c_uint32), ("slots", ctypes.c_uint32), ("left", ctypes.c_uint32), ("error", ctypes.c_int32),
                ("took", ctypes.c_uint32), ("more", ctypes.c_uint32), ("on", ctypes.c_uint32), ("dir", ctypes.c_char * 512)]
block = Block(magic=0x3354544148474956, rate=524288, dir=b"FOLDER")
library = ctypes.CDLL("LIBRARY")
while library.vigil_heap_attach(ctypes.byref(block), ctypes.c_uint64(ctypes.sizeof(block))) == 0 and block.more:
    pass
"""


def with_proc(python, *args):
    """A Python in a folder of its own needs /proc there, for as long as it runs."""
    return ["unshare", "-m", "sh", "-c", 'mount --rbind /proc "$1"/proc; shift; exec "$@"', "sh", python.chroot, *python.argv, *args]


class Target:
    def __init__(self, python, kind, script):
        inner = str(script).removeprefix(python.chroot or "")
        self.process = subprocess.Popen(with_proc(python, inner, kind), stdout=subprocess.PIPE, env=python.env())
        assert self.process.stdout.readline().strip() == b"ready"

    def end(self):
        said = self.process.communicate(timeout=60)[0].split()
        return float(said[0]), int(said[1]), int(said[2])


def once(o, python, folder, kind, way):
    root = pathlib.Path(python.chroot or "/")
    inner = "/" + str(folder.relative_to(root))
    regions = folder / "regions"
    shutil.rmtree(regions, ignore_errors=True)
    regions.mkdir()
    stopped = (0, 0)
    target = Target(python, kind, folder / "target.py")
    time.sleep(0.2)  # into the loop, the sleep, the call
    if way == "injection":
        done = subprocess.run([o.build / "tests/tool/heaptool", "attach", str(target.process.pid), str(regions)], capture_output=True,
                              env={"VIGIL_DATA_DIR": str(folder)}, check=False)
        stops = re.search(rb"stopped_us (\d+) sum_us (\d+)", done.stdout)
        stopped = (int(stops[1]) / 1000, int(stops[2]) / 1000) if stops else stopped
    elif way == "remote_exec":
        (folder / "script.py").write_text(SCRIPT.replace("FOLDER", f"{inner}/regions").replace("LIBRARY", f"{inner}/libvigil_heap.so"))
        code = f"import sys; sys.remote_exec({target.process.pid}, {inner + '/script.py'!r})"
        # whoever asks must see the program by the same path: it needs its folders
        subprocess.run(["nsenter", "-t", str(target.process.pid), "-m", "-r", python.argv[-1], "-c", code], check=True, env=python.env())
    time.sleep(0.8)
    inside = list(regions.glob("**/*.heap")) + list((root / "tmp").glob(f"vigil-heap-{target.process.pid}-*/*.heap"))
    got = target.end()
    for path in (root / "tmp").glob(f"vigil-heap-{target.process.pid}-*"):
        shutil.rmtree(path)
    return bool(inside), got, stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=15)
    o = parser.parse_args()
    o.build = o.build.resolve()
    python = next((p for p in pythons.find() if str(p).startswith("3.14")), None)
    if not python:
        sys.exit("no CPython 3.14 is here: tools/pythons")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vigil-remote-", dir=f"{python.chroot or ''}/tmp"))
    try:
        shutil.copy(o.build / "preload/libvigil_heap.so", folder)
        (folder / "target.py").write_text(TARGET)
        print(f"{'program':8} {'way':12} {'there':>6} {'p50 ms':>7} {'max ms':>7} {'stop ms':>7} {'all ms':>7} {'modules':>7} {'mappings':>8}")
        for kind in ("loop", "sleep", "native"):
            for way in ("nothing", "injection", "remote_exec"):
                results = [once(o, python, folder, kind, way) for _ in range(o.times if kind == "loop" else 3)]
                longest = [r[1][0] for r in results]
                stops = [statistics.median(r[2][i] for r in results) for i in range(2)]
                print(f"{kind:8} {way:12} {sum(r[0] for r in results):3}/{len(results):<2} {statistics.median(longest):7.2f} {max(longest):7.2f} "
                      f"{stops[0]:7.2f} {stops[1]:7.2f} "
                      f"{results[-1][1][1]:7} {results[-1][1][2]:8}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
