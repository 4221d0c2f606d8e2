"""A kernel runs the cells that a front end sends over a pair of pipes. Who works there thinks for 55 s before
the next cell."""
import subprocess
import sys
import time

from kit14 import me, role, start

CELLS = ["x = 0", *["x += %d; print('step %d x =', x, flush=True); time.sleep(0.1)" % (k, k) for k in range(60)]]


def kernel():
    me("kernel")
    names = {"time": time}
    for number, line in enumerate(sys.stdin):
        exec(line, names)
        print("Out[%d]" % number, flush=True)


def front():
    role("front")
    p = start([sys.executable, __file__, "kernel"], "kernel", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for number, cell in enumerate(CELLS):
        if number == 50:
            time.sleep(55)
        p.stdin.write(cell + "\n")
        p.stdin.flush()
        while not (line := p.stdout.readline()).startswith("Out"):
            print(line, end="", flush=True)
    p.stdin.close()
    sys.exit(p.wait())


kernel() if "kernel" in sys.argv else front()
