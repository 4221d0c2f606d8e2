"""Two ranks. Rank 1 compiles a graph by a compiler of its own at a new shape, which computes for 67 s; rank 0 waits for its
gradient."""
import subprocess
import sys
import time

from kit25 import OWN, STALL, Log, Model, Ring, main


def compile_graph():
    end, x = time.monotonic() + 67, 1.0
    while time.monotonic() < end:
        for k in range(20000):
            x = x * 0.999 + k
        time.sleep(0.02)


def body(rank, world, port):
    ring, model, log = Ring(rank, world), Model(rank), Log("logger")
    for step in range(120):
        if rank == 1 and step == STALL:
            subprocess.run(OWN + ["compile"], check=True)
        model.step(ring.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "compile" in sys.argv:
    compile_graph()
else:
    main(2, body)
