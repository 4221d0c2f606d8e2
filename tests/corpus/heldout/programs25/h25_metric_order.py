"""Four ranks of MPI. At the end of an epoch each sends its metrics to rank 0, synchronously, one tag for each metric.
Rank 2 has its metrics in another order since it has read them from a checkpoint: it sends the second first.

slow: the order is right, and rank 2 computes its metrics for 66 s."""
import sys

from mpi4py import MPI

from kit25 import SLOW, STALL, STEPS, Log, Model, busy, role

TAGS = {"loss": 1, "accuracy": 2}


def report(comm, metrics):
    if comm.rank:
        for name, value in metrics.items():
            comm.ssend(value, 0, TAGS[name])
        return {}
    return {name: [comm.recv(source=r, tag=TAGS[name]) for r in range(1, comm.size)] for name in TAGS}


def train():
    comm = MPI.COMM_WORLD
    role("rank%d" % comm.rank)
    model, log = Model(comm.rank), Log()
    for step in range(STEPS):
        model.step(comm.allreduce(model.backward()) / comm.size)
        if comm.rank == 0:
            log(step, model.loss)
        if step == STALL:
            metrics = {"loss": model.loss, "accuracy": 0.5}
            if comm.rank == 2 and SLOW:
                busy(66)
            elif comm.rank == 2:
                metrics = dict(sorted(metrics.items()))
            report(comm, metrics)


sys.exit(train())
