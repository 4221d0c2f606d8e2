"""Rank 1 cannot reach the label service for a minute and tries again with longer and longer pauses, until it can."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import socket
import time


def service(port):
    time.sleep(kit.secs(58))
    s = socket.create_server(("127.0.0.1", port))
    c, _ = s.accept()
    c.sendall(b"ok")
    c.close()
    time.sleep(kit.secs(30))


def labels():
    wait = 1.0
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(os.environ["LABELS"])), 5) as s:
                return s.recv(2)
        except OSError as e:
            print(f"WARNING label service: {e}, next try in {wait:.0f} s", flush=True)
            time.sleep(kit.secs(wait))
            wait = min(wait * 2, 32)


def setup():
    port = kit.free_port()
    kit.fork_child("labels", service, port)
    return {"LABELS": str(port)}


def run():
    group = kit.Star()
    for i in range(30):
        time.sleep(0.3)
        if kit.RANK == 1 and i == 6:
            labels()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")


kit.main(3, run, setup)
