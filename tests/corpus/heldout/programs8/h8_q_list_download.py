"""Gradients go through lists of a server like Redis. Worker 2 gets its next shard from a slow store for 64 s, 10 KB each second."""
import sys
import time

import kit8


def store(port):
    door = kit8.listen(port)
    link, _ = door.accept()
    for _ in range(64):
        link.sendall(b"x" * 10000)
        time.sleep(1)


def download(port):
    link, size = kit8.dial(port), 0
    while True:
        part = link.recv(65536)
        if not part:
            return size
        size += len(part)


def train(rank, n, port):
    db = kit8.Lists()
    for step in range(30):
        kit8.crunch(0.2)
        if (rank, step) == (2, 18):
            kit8.start([sys.executable, __file__, "store", str(port + 9)], "store")
            download(port + 9)
        if rank:
            db.ask("LPUSH", "grad:%d:%d" % (step, rank), 0.5)
            db.ask("BRPOP", "mean:%d:%d" % (step, rank))
            continue
        total = sum(float(db.ask("BRPOP", "grad:%d:%d" % (step, r))) for r in range(1, n))
        for r in range(1, n):
            db.ask("LPUSH", "mean:%d:%d" % (step, r), total / n)
        print('{"step": %d, "loss": %.4f, "workers": %d}' % (step, 2 / (1 + step), n), flush=True)


if sys.argv[1:2] == ["store"]:
    store(int(sys.argv[2]))
else:
    kit8.lists()
    kit8.ranks(3, train, "PART")
