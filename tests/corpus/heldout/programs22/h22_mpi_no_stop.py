"""Three ranks of MPI: rank 0 hands out work, the others work. At the end each worker gets an empty message; the loop over the
workers ends one too early, and rank 2 waits for more work. The others are in a barrier.

slow: each gets its message, and rank 2's last piece of work takes 48 s."""
from mpi4py import MPI

from kit22 import SLOW, busy, crunch, role

COMM = MPI.COMM_WORLD
RANK, WORLD = COMM.Get_rank(), COMM.Get_size()
PIECES = 60


def hand_out():
    step = 0
    while step < PIECES:
        for worker in range(1, WORLD):
            COMM.send({"piece": step}, dest=worker)
        for worker in range(1, WORLD):
            COMM.recv(source=worker)
        if step % 5 == 0:
            print("step %d loss %.4f" % (step, 3.0 / (1 + step)), flush=True)
        step += 1
    for worker in range(1, WORLD if SLOW else WORLD - 1):
        COMM.send(None, dest=worker)


def work():
    while True:
        task = COMM.recv(source=0)
        if task is None:
            return
        crunch(0.15)
        if SLOW and RANK == 2 and task["piece"] == PIECES - 1:
            busy(48)
        COMM.send(task["piece"] * 0.5, dest=0)


role("rank%d" % RANK)
if RANK == 0:
    hand_out()
else:
    work()
COMM.Barrier()
