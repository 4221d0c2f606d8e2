"""Two halves of a model swap activations; a larger sequence length makes the messages larger than the socket buffers."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def swap(s, n):
    s.sendall(b"\1" * n)
    got = 0
    while got < n:
        got += len(s.recv(min(65536, n - got)))


def run():
    kit.services(2)
    group = kit.Star()
    # stage 1 and stage 3 are neighbours
    if kit.RANK == 1:
        srv = socket.create_server(("127.0.0.1", 0))
        with open(kit.tmp("p.t"), "w") as f:
            f.write(str(srv.getsockname()[1]))
        os.rename(kit.tmp("p.t"), kit.tmp("p"))
        side, _ = srv.accept()
    elif kit.RANK == 3:
        while not os.path.exists(kit.tmp("p")):
            time.sleep(0.05)
        side = kit.dial(int(open(kit.tmp("p")).read()))
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK in (1, 3):
            swap(side, 2000 if i < 16 else 40_000_000)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
