"""Rank 1 reaches its store through a tunnel, which somebody has stopped. The store idles, the other ranks wait for rank 1."""
import os
import select
import signal
import sys

import kit6


def tunnel(port, target):
    door, links = kit6.listen(port), {}
    while True:
        for s in select.select([door, *links], [], [])[0]:
            if s is door:
                near, far = door.accept()[0], kit6.dial(target)
                links.update({near: far, far: near})
            else:
                links[s].sendall(s.recv(65536))


def store(port):
    link, _ = kit6.listen(port).accept()
    while True:
        kit6.receive(link)
        kit6.send(link, "value")


def train(rank, world, links):
    far = kit6.dial(int(os.environ["TUNNEL"])) if rank == 1 else None
    for step in range(1000):
        kit6.crunch(0.15)
        if rank == 1:
            if step == 40:
                os.kill(int(os.environ["TUNNEL_PID"]), signal.SIGSTOP)
            kit6.send(far, "get")
            kit6.receive(far)
        for s in links.values():
            kit6.send(s, step)
        for s in links.values():
            kit6.receive(s)
        if rank == 0:
            print("[train] %d/1000" % step, flush=True)


if sys.argv[1:]:
    {"tunnel": lambda: tunnel(int(sys.argv[2]), int(sys.argv[3])), "store": lambda: store(int(sys.argv[2]))}[sys.argv[1]]()
else:
    near, far = kit6.free_port(), kit6.free_port()
    kit6.start([sys.executable, __file__, "store", str(far)], "store")
    p = kit6.start([sys.executable, __file__, "tunnel", str(near), str(far)], "tunnel")
    os.environ.update(TUNNEL=str(near), TUNNEL_PID=str(p.pid))
    pairs = kit6.Pairs(3)
    kit6.ranks(3, lambda r, n, port: train(r, n, pairs.of(r)), "fork")
