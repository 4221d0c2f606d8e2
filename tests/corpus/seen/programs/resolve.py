"""Rank 2 looks up the address of its bucket by UDP and gets no answer; no time limit was set."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import struct
import time


def resolver(w):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    os.write(w, str(s.getsockname()[1]).encode())
    os.close(w)
    while True:
        q, who = s.recvfrom(512)
        if b"bucket" not in q:
            s.sendto(q, who)


def lookup(name):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    q = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0\0\1\0\1"
    s.sendto(q, ("127.0.0.1", int(os.environ["RESOLVER"])))
    answer, _ = s.recvfrom(512)
    return answer


def run():
    kit.services(3)
    group = kit.Star()
    kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.3)
        if kit.RANK == 2 and i % 5 == 0:
            lookup("bucket-7.store.local" if i == 15 else "meta.store.local")
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run, lambda: {"RESOLVER": kit.outside(resolver)})
