"""Rank 1 waits for an optional teacher with a limit of 75 s, then goes on without it."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def ask_teacher(port):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(kit.secs(75))
    s.sendall(b"logits?\n")
    try:
        return s.recv(100)
    except TimeoutError:
        print("teacher is silent, going on without it", flush=True)


def run():
    kit.services(2)
    group = kit.Ring()
    for i in range(20):
        time.sleep(0.25)
        if i == 10 and kit.RANK == 1:
            ask_teacher(int(os.environ["TEACHER"]))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, lambda: {"TEACHER": kit.outside(kit.mute_server)})
