"""Spawned ranks meet at a Barrier with a limit of 150 s; rank 2 reads its weights for 70 s."""
import multiprocessing as mp
import os
import time

import kit5


def train(rank, barrier):
    kit5.with_parent()
    kit5.role("rank%d" % rank)
    os.environ["RANK"] = str(rank)
    if rank == 2:
        for _ in range(140):
            with open("weights.bin", "rb") as f:
                f.read(1000)
            time.sleep(0.5)
    barrier.wait(150)
    print("rank", rank, "begins", flush=True)
    kit5.crunch(2)


def main():
    kit5.role("launcher")
    open("weights.bin", "wb").write(bytes(100_000))
    context = mp.get_context("spawn")
    barrier = context.Barrier(3)
    procs = [context.Process(target=train, args=(r, barrier)) for r in range(3)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()


if __name__ == "__main__":
    main()
