"""A broker does not read from its publishers for 60 s, until there is room again. Rank 1 publishes, rank 0 consumes."""
import os
import select
import sys
import time

import kit9


def serve(port):
    door, links, seen, alarm = kit9.listen(port), {}, 0, 0
    while True:
        while time.monotonic() < alarm:
            time.sleep(1)
        for sock in select.select([door, *links], [], [])[0]:
            if sock is door:
                link, _ = door.accept()
                links[link] = kit9.receive(link)
                continue
            try:
                message = kit9.receive(sock)
            except EOFError:
                del links[sock]
                continue
            seen += 1
            alarm = time.monotonic() + 60 if seen == 25 else 0
            for to in [k for k, what in links.items() if what == "consume"]:
                kit9.send(to, message)


def work(rank, n, port):
    link = kit9.dial(int(os.environ["BROKER_PORT"]))
    kit9.send(link, "publish" if rank else "consume")
    time.sleep(0.5)
    for k in range(60):
        if rank == 0:
            kit9.receive(link)
            print("consumed", k, flush=True)
        else:
            kit9.send(link, b"o" * 900000)
            kit9.crunch(0.15)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "BROKER_PORT" not in os.environ:
    os.environ["BROKER_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "serve", os.environ["BROKER_PORT"]], "broker")
kit9.ranks(2, work, "slurm")
