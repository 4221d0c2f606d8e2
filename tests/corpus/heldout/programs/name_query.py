"""A query by datagrams to a server that never answers, again and again."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket
import time


def serve(s):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.bind(s.getsockname())
    while True:
        u.recvfrom(500)


def before(env):
    env["NS"] = str(kit.outside(serve))


def lookup(name):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.connect(("127.0.0.1", int(os.environ["NS"])))
    u.settimeout(4)
    while True:
        u.send(name)
        try:
            return u.recv(500)
        except TimeoutError:
            time.sleep(1)


def run():
    comm = kit.Star()
    kit.services(2)
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 0:
            lookup(b"store-7.cluster")
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before, reaper=False)
