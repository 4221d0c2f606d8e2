"""Rank 0 and rank 3 talk by datagrams; one is lost, both wait."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket

r = kit.rank()


def run():
    comm = kit.Star()
    if r in (0, 3):
        u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        u.bind(("127.0.0.1", kit.port(10 + r)))
        peer = ("127.0.0.1", kit.port(10 + 3 - r))
    for i in range(1000):
        kit.work(0.25)
        comm.all_reduce(1)
        if r == 0:
            if i == 16:
                u.sendto(b"norm", ("127.0.0.1", kit.port(25)))
            else:
                u.sendto(b"norm", peer)
            u.recvfrom(100)
            kit.step(i)
        elif r == 3:
            u.recvfrom(100)
            u.sendto(b"ack", peer)


kit.go(4, run)
