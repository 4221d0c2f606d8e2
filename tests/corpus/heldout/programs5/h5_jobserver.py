"""Builders take a token from a pipe, as under make -j; two of them leave and keep their own."""
import os
import sys

import kit5


def build(k):
    kit5.with_parent()
    kit5.role("builder%d" % k)
    kernels = range(20)
    for n in kernels:
        token = os.read(3, 1)
        kit5.crunch(0.2)
        if n == 4 + k and k < 2:
            sys.exit(0)  # nothing to do for this architecture
        os.write(4, token)
        print("builder %d: kernel %d" % (k, n), flush=True)
        kit5.crunch(0.05)


def main():
    kit5.role("main")
    r, w = os.pipe()
    os.write(w, b"++")
    os.dup2(r, 3)
    os.dup2(w, 4)
    for fd in {r, w} - {3, 4}:
        os.close(fd)
    pids = []
    for k in range(3):
        pids.append(os.fork())
        if pids[-1] == 0:
            build(k)
            os._exit(0)
    for pid in pids:
        os.waitpid(pid, 0)
    print("built")


main()
