"""Rank 1 asks a server that takes the call and never answers. Args: services, copies, all ranks ask."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import http.client
import socket
import time

SRV, COPIES, ALL = map(int, sys.argv[1:4])


def serve(s):
    keep = []
    while True:
        keep.append(s.accept())


def before(env):
    env["SHARDS"] = str(kit.outside(serve))


def fetch(i):
    if ALL:
        s = socket.create_connection(("127.0.0.1", int(os.environ["SHARDS"])))
        s.sendall(b"GET shard%d\n" % i)
        return s.makefile("rb").readline()
    c = http.client.HTTPConnection("127.0.0.1", int(os.environ["SHARDS"]))
    c.request("GET", "/shard/%d" % i)
    return c.getresponse().read()


def run():
    comm = kit.Star()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and (ALL or kit.rank() == 1):
            fetch(i)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before, reaper=False)
