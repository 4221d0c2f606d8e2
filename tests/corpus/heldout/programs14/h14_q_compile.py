"""Before the first step of a new shape rank 0 has kernels compiled by a tool, which takes 50 s; the others
wait at the barrier."""
import subprocess
import sys

from kit14 import Store, crunch, main, me, told


def compiler():
    me("compiler")
    for _ in range(50):
        crunch(1)


def body(rank, world, port):
    store = Store(rank, world, port)
    for step in range(80):
        crunch(0.13)
        if step == 60:
            if rank == 0:
                print("new shape (8, 4096), compiling kernels", flush=True)
                subprocess.run([sys.executable, __file__, "compile"], check=True)
            store.barrier("kernels")
        store.all_reduce("grad/%d" % step, 1)
        if rank == 0:
            told(step)


compiler() if "compile" in sys.argv else main(3, body)
