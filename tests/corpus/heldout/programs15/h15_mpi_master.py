"""A search over parameters with MPI: rank 0 gives trials to two others and looks for results every 20 ms, so
that it leaves its processor to others. Rank 2's trial fails; it says so by a message with the tag of errors, for
which rank 0 does not look, and waits for its next trial."""
import time

from kit15 import me, unlink_shared
from mpi4py import MPI

TRIAL, RESULT, ERROR = 1, 2, 3
comm = MPI.COMM_WORLD


def wait(source, tag):
    while not comm.iprobe(source=source, tag=tag):
        time.sleep(0.02)
    return comm.recv(source=source, tag=tag)


def search():
    for k in range(60):
        for r in (1, 2):
            comm.send({"lr": 1e-4 * (k + 1), "depth": 12 - r}, r, TRIAL)
        best = min(wait(r, RESULT) for r in (1, 2))
        if k % 5 == 0:
            print("step %d best %.4f" % (k, best), flush=True)


def trials():
    for k in range(60):
        trial = wait(0, TRIAL)
        time.sleep(0.2)
        try:
            if (comm.rank, k) == (2, 41):
                raise ArithmeticError("loss is nan with lr %g" % trial["lr"])
            comm.send(1 / (k + 1), 0, RESULT)
        except ArithmeticError as e:
            comm.send(str(e), 0, ERROR)


me("rank%d" % comm.rank)
comm.barrier()
unlink_shared()
search() if comm.rank == 0 else trials()
