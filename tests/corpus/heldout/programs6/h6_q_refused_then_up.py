"""Clients dial each 5 s and are refused for 63 s, as long as the server loads its weights; then all goes on."""
import os
import socket
import sys
import time

import kit6


def serve(port):
    end = time.time() + 63
    while time.time() < end:
        kit6.compute(0.5)
    door = kit6.listen(port)
    for _ in range(2):
        link, _ = door.accept()
        kit6.send(link, "weights")


def ask(rank, world, port):
    for n in range(10):
        kit6.crunch(0.1)
        print("client", rank, "warm", n, flush=True)
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(os.environ["WEIGHTS"]))) as s:
                print("client", rank, "has", kit6.receive(s), flush=True)
                return
        except ConnectionRefusedError:
            time.sleep(5)


if sys.argv[1:] and "RANK" not in os.environ:
    serve(int(sys.argv[1]))
else:
    if "WEIGHTS" not in os.environ:
        os.environ["WEIGHTS"] = str(kit6.free_port())
        kit6.start([sys.executable, __file__, os.environ["WEIGHTS"]], "server")
    kit6.ranks(2, ask)
