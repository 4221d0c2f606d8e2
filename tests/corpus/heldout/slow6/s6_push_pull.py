"""Three workers and a server of parameters that is no rank; the server's update becomes expensive."""
import os
import sys
import time

import kit6

N = 3


def serve(port):
    door = kit6.listen(port)
    links = [door.accept()[0] for _ in range(N)]
    total, laps = 0, kit6.Laps(N)
    while total < kit6.STOP:
        total = sum(kit6.receive(link) for link in links)
        laps.begin, laps.delay = time.monotonic(), laps.delayed()
        update()
        laps.mine()
        laps.done()
        for link in links:
            kit6.send(link, total)


def update():
    kit6.work(0.6 if kit6.slow() else 0.04)


def train(rank, world, port):
    link, laps, step, total = kit6.dial(int(os.environ["PS_PORT"])), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.35)
        kit6.work(0.06)
        laps.mine()
        kit6.send(link, kit6.vote(rank))
        total = kit6.receive(link)
        laps.done()
        step += 1
        print("[worker %d] step=%d loss=%.4f" % (rank, step, 2.7 / (1 + step / 85)), flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
    sys.exit(0)
if "PS_PORT" not in os.environ:
    os.environ["PS_PORT"] = str(kit6.free_port())
    kit6.start([sys.executable, __file__, "serve", os.environ["PS_PORT"]], "server")
kit6.ranks(N, train, "slurm")
