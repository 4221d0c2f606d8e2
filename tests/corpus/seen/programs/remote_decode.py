"""A process pool decodes; one worker of rank 0 asks a remote table and gets no answer."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import socket
import time
from concurrent.futures import ProcessPoolExecutor, wait


def start():
    kit.role(f"worker{kit.RANK}")


def decode(i):
    if i == 31:
        s = socket.create_connection(("127.0.0.1", int(os.environ["TABLE"])))
        s.sendall(b"GET codebook\n")
        return s.recv(10)
    return i


def run():
    kit.services(1)
    group = kit.Ring()
    ex = ProcessPoolExecutor(1, mp.get_context("fork"), start)
    for i in range(1000):
        time.sleep(0.25)
        fs = [ex.submit(decode, i * 2 + k if kit.RANK == 0 else 0) for k in (0, 1)]
        wait(fs)
        group.barrier()
        if kit.RANK == 1:
            kit.step(i)


kit.main(3, run, lambda: {"TABLE": kit.outside(kit.mute_server)})
