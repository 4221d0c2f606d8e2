"""Helpers of the seventh set, over those of the sixth: again other launchers, a line of ranks, loggers.

ranks(n, body, how): "elastic" (an agent that watches its ranks, RANK, TORCHELASTIC_RUN_ID), "ompi" (OMPI_COMM_WORLD_RANK), "worker" (WORKER_ID,
a name of its own), "slurm" and "fork" as before."""
import json
import logging
import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs6"))
from kit6 import Keys, Reducer, compute, crunch, dial, free_port, http_get, keys, listen  # noqa: E402,F401
from kit6 import receive, reducer, role, send, start, with_parent  # noqa: E402,F401
import kit6  # noqa: E402

NAMES = {"elastic": ("RANK", "LOCAL_RANK", "WORLD_SIZE"), "ompi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
         "worker": ("WORKER_ID", "WORKER_SLOT", "NUM_WORKERS"), "slurm": ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS")}


def watch(procs):
    """As an elastic agent: the first one that fails ends all."""
    while any(p.poll() is None for p in procs):
        time.sleep(0.3)
        if any(p.poll() for p in procs):
            for p in procs:
                p.kill()
    sys.exit(max(abs(p.returncode) for p in procs))


def ranks(n, body, how="elastic"):
    if how == "fork":
        role("launcher")
        return kit6._by_fork(n, body)
    number, local, size = NAMES[how]
    if number in os.environ:
        with_parent()
        role("rank" + os.environ[number])
        return body(int(os.environ[number]), n, int(os.environ["MASTER_PORT"]))
    role("launcher")
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    env[size] = str(n)
    if how == "elastic":
        env.update(TORCHELASTIC_RUN_ID="none", LOCAL_WORLD_SIZE=str(n), GROUP_RANK="0")
    watch([subprocess.Popen([sys.executable, *sys.argv], env=dict(env, **{number: str(r), local: str(r)})) for r in range(n)])


class Line:
    """Sums that go from rank 0 to the last one and come back, a number a line, over TCP."""

    def __init__(self, rank, world, port):
        self.down = self.up = None
        door = listen(port + 10 + rank) if rank < world - 1 else None
        if rank:
            self.down = dial(port + 9 + rank).makefile("rw")
        if door:
            self.up = door.accept()[0].makefile("rw")

    @staticmethod
    def tell(link, x):
        link.write("%r\n" % x)
        link.flush()

    def reduce(self, x=1.0):
        if self.down:
            x += float(self.down.readline())
        if self.up:
            self.tell(self.up, x)
            x = float(self.up.readline())
        if self.down:
            self.tell(self.down, x)
        return x


def logger(rank=0, path=None):
    """A logger with the usual format, to a file or to stderr."""
    logging.basicConfig(filename=path, level=logging.INFO, format="%(asctime)s,%(msecs)03d %(levelname)s [rank" + str(rank) + "] %(message)s")
    return logging.getLogger("train")


def row(step, **more):
    """A line of JSON, as a logger of metrics writes it."""
    print(json.dumps({"_step": step, "train/loss": round(2.9 / (1 + step / 30), 4), **more}), flush=True)
