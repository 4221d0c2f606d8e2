"""Ranks write to the machine's log by datagrams of a unix socket. The daemon that takes them is busy with its own names; when its queue is
full, whoever logs waits. Rank 2 logs most."""
import os
import socket
import sys
import time

import kit9


def daemon(path):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.bind(path)
    for k in range(40):
        door.recv(2000)
    while not os.path.exists("resolv.conf"):
        time.sleep(1)


def train(rank, n, port):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    link.connect(os.environ["LOG_SOCKET"])
    ring = kit9.Ring(rank, n, port)
    for s in range(200):
        kit9.crunch(0.1)
        for k in range(30 if rank == 2 else 0):
            link.send(b"<14>trainer: sample %d.%d was padded" % (s, k))
        ring.reduce(1.0)
        kit9.step(rank, s, 200)


if sys.argv[1:2] == ["daemon"]:
    daemon(sys.argv[2])
if "LOG_SOCKET" not in os.environ:
    os.environ["LOG_SOCKET"] = os.path.abspath("log.sock")
    kit9.start([sys.executable, sys.argv[0], "daemon", os.environ["LOG_SOCKET"]], "logger")
    while not os.path.exists(os.environ["LOG_SOCKET"]):
        time.sleep(0.05)
kit9.ranks(5, train, "ompi")
