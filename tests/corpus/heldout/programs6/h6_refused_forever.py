"""A feature service leaves with 0 when nobody has asked for a while. Rank 1 comes back after a long epoch and dials it for ever."""
import os
import socket
import sys
import time

import kit6


def serve(port):
    door = kit6.listen(port)
    door.settimeout(4)
    try:
        while True:
            link, _ = door.accept()
            kit6.send(link, "features")
            link.close()
    except socket.timeout:
        print("idle, leaving", flush=True)


def fetch(port):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as link:
                return kit6.receive(link)
        except ConnectionRefusedError:
            time.sleep(1)


def train(rank, world, links):
    for step in range(1000):
        kit6.crunch(0.15)
        if rank == 1 and step in (0, 10, 50):
            fetch(int(os.environ["FEATURES"]))
        if rank == 1:
            for s in links.values():
                kit6.send(s, step)
        else:
            kit6.receive(links[1])
        if rank == 0 and step % 5 == 0:
            print("step", step, flush=True)


if sys.argv[1:]:
    serve(int(sys.argv[1]))
else:
    os.environ["FEATURES"] = str(kit6.free_port())
    kit6.start([sys.executable, __file__, os.environ["FEATURES"]], "features")
    pairs = kit6.Pairs(3)
    kit6.ranks(3, lambda r, n, port: train(r, n, pairs.of(r)), "fork")
