"""Two ranks bound to a core each; four busy processes of somebody else are bound to the core of rank 1 later."""
import os
import subprocess
import sys

import kit6


def neighbours(core):
    kit6.role("starter")
    while not kit6.slow():
        kit6.disk(0.2)
    busy = [subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"], preexec_fn=kit6.with_parent) for _ in range(4)]
    for p in busy:
        kit6.role("neighbour", p.pid)
    while True:
        kit6.disk(5)


def train(rank, world, port):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    group, laps, step, total = kit6.Butterfly(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.3)
        kit6.work(0.2)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            print("Epoch [1/3], Step [%d/3000], Loss: %.4f" % (step, 2.5 / (1 + step / 70)), flush=True)


if "RANK" not in os.environ:
    if sys.argv[1:2] == ["neighbours"]:
        kit6.with_parent()
        neighbours(sys.argv[2])
    cores = sorted(os.sched_getaffinity(0))
    subprocess.Popen([sys.executable, __file__, "neighbours", str(cores[1 % len(cores)])], preexec_fn=kit6.with_parent)
kit6.by_launcher(2, train)
