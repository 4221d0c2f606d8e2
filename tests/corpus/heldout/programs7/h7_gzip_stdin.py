"""Three trainers without any rank; each step's samples go through gzip, which answers at the end of its input. The last one forgot to close it."""
import subprocess
import sys

import kit7


def pack(text, close):
    child = kit7.start(["gzip", "-c"], "gzip" + sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(text)
    child.stdin.flush()
    if close:
        child.stdin.close()
    size = len(child.stdout.read())
    child.wait()
    return size


if sys.argv[1:]:
    kit7.with_parent()
    kit7.role("trainer" + sys.argv[1])
    for step in range(25 if sys.argv[1] != "2" else 1000):
        kit7.crunch(0.15)
        print("trainer %s: sample %d, %d bytes" % (sys.argv[1], step, pack(b"a" * 5000, sys.argv[1] != "2" or step < 20)), flush=True)
else:
    kit7.role("main")
    procs = [subprocess.Popen([sys.executable, __file__, str(k)]) for k in range(3)]
    for p in procs:
        p.wait()
