"""A broker that stops reading from its publishers while the disk has less room than a limit, which here is never met. Ranks 1 and 2
publish, rank 0 consumes."""
import os
import select
import sys
import time

import kit9


def free_gigabytes():
    s = os.statvfs(".")
    return s.f_bavail * s.f_frsize / 1e9


def serve(port):
    door, links, seen, limit = kit9.listen(port), {}, 0, 0
    while True:
        while free_gigabytes() < limit:
            time.sleep(1)  # alarm: publishers wait
        for sock in select.select([door, *links], [], [])[0]:
            if sock is door:
                link, _ = door.accept()
                links[link] = kit9.receive(link)
                continue
            message = kit9.receive(sock)
            seen += 1
            limit = 1e9 if seen == 60 else 0
            to = [k for k, what in links.items() if what == "consume"]
            if to:
                kit9.send(to[0], message)


def work(rank, n, port):
    link = kit9.dial(int(os.environ["BROKER_PORT"]))
    kit9.send(link, "publish" if rank else "consume")
    time.sleep(0.5)
    for k in range(10000):
        if rank == 0:
            kit9.receive(link)
            if k % 10 == 0:
                print("consumed %d episodes" % k, flush=True)
        else:
            kit9.send(link, b"o" * 200000)
            kit9.crunch(0.15)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "BROKER_PORT" not in os.environ:
    os.environ["BROKER_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "serve", os.environ["BROKER_PORT"]], "broker")
kit9.ranks(3, work, "slurm")
