"""Eight ranks: the one that has made the file `lock` compiles an extension for a minute, the others look whether the file is gone."""
import os
import time

import kit10


def load_extension(rank):
    if rank == 0:
        kit10.crunch(58)
        os.unlink("fused_norm.lock")
    while os.path.exists("fused_norm.lock"):
        time.sleep(0.2)


def body(rank, n, port):
    load_extension(rank)
    ring = kit10.Ring(rank, n, port)
    for s in range(20):
        time.sleep(0.2)
        ring.reduce(1)
        kit10.log(rank, s, loss=1)


open("fused_norm.lock", "a").close() if "SLURM_PROCID" not in os.environ else None
kit10.ranks(8, body, "slurm")
