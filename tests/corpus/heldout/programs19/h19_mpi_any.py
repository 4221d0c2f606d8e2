"""Three ranks by MPI. After each tenth step rank 0 takes two results from whoever sends one, and goes to a barrier. At
step 40 rank 2 sends a warning before its result: rank 0 has then two messages and is in the barrier, and rank 1 is in
the sending of its own large one, which nobody takes.

slow: no warning, and rank 1 evaluates for 48 s."""
from kit19 import SLOW, STEPS, busy, crunch, me, told, unlink_shared

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()


def evaluate(step):
    if rank == 0:
        return [comm.recv(source=MPI.ANY_SOURCE, tag=7) for _ in range(comm.Get_size() - 1)]
    if rank == 1:
        crunch(1.0)
        if SLOW and step == 40:
            busy(48)
    elif step == 40 and not SLOW:
        comm.send({"warning": "a class has no samples"}, dest=0, tag=7)
    comm.send({"rank": rank, "scores": bytes(4_000_000)}, dest=0, tag=7)


me("rank%d" % rank)
comm.Barrier()
if rank == 0:
    unlink_shared()
for step in range(STEPS):
    crunch(0.2)
    comm.allreduce(0.4)
    if step and step % 10 == 0:
        evaluate(step)
        comm.Barrier()
    if rank == 0:
        told(step)
