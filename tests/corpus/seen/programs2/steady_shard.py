"""Rank 2 fetches a shard from a far server at some 20 KB a second; the others look for its mark file."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import socket
import time


def far(w, pause):
    s = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(s.getsockname()[1]).encode())
    os.close(w)
    c, _ = s.accept()
    c.recv(100)
    for _ in range(320):
        c.sendall(bytes(4096))
        time.sleep(pause)
    c.close()
    time.sleep(600)


def run():
    group = kit.Mesh()
    for i in range(22):
        time.sleep(0.3)
        if i == 10:
            mark = kit.tmp("shard3.ok")
            if kit.RANK == 2:
                s = kit.dial(int(os.environ["BUCKET"]))
                s.sendall(b"GET /shard3\n")
                while s.recv(65536):
                    pass
                open(mark, "w").close()
            while not os.path.exists(mark):
                time.sleep(0.5)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "dict")


kit.main(4, run, lambda: {"BUCKET": kit.outside(far, kit.secs(0.2))})
