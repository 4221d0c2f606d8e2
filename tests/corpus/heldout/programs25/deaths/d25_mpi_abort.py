"""Rank 1 of MPI ends all by Abort(3)."""
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
for k in range(60):
    time.sleep(0.1)
    loss = comm.allreduce(1.0 / (k + 1))
    if comm.rank == 0 and k % 5 == 0:
        print("step %d loss %.4f" % (k, loss), flush=True)
    if comm.rank == 1 and k == 40:
        print("tokenizer.json of rank 1 has another checksum", flush=True)
        comm.Abort(3)
