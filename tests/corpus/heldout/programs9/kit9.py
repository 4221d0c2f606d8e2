"""Helpers of the ninth set: those of the fourth, and ranks by the names that Open MPI, Slurm, Horovod or MPICH give."""
import os
import random
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
import kit4  # noqa: E402
from kit4 import (  # noqa: E402,F401
    Hub, Ring, Tree, compute, crunch, dial, listen, main, read, receive, role, send, start, with_parent)

NAMES = {"ompi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
         "slurm": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
         "horovod": ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"),
         "pmi": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID")}


def free_port():
    """Below the ports that connections get by themselves, as those after it are used as well."""
    while True:
        port = random.randrange(10000, 30000, 20)
        try:
            for k in (*range(10), *range(99, 106)):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port + k))
            return port
        except OSError:
            pass


kit4.free_port = free_port


def ranks(n, body, how):
    """n processes that run body(rank, n, port)."""
    rank, size, local = NAMES[how]
    if rank in os.environ:
        return body(int(os.environ[rank]), n, int(os.environ["JOB_PORT"]))
    role("launcher")
    port, procs = free_port(), []
    for r in range(n):
        env = dict(os.environ, JOB_PORT=str(port), **{rank: str(r), size: str(n), local: str(r)})
        procs.append(start([sys.executable, *sys.argv], "rank%d" % r, env=env))
    sys.exit(max(abs(p.wait()) for p in procs))


def step(rank, s, n, loss=None):
    if rank == 0:
        print("step %d/%d loss %.4f" % (s + 1, n, 3.2 / (1 + s / 9) if loss is None else loss), flush=True)
