"""Rank 2 downloads its shard at a few KB/s from a slow server."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time
import urllib.request

RATE = int(sys.argv[1])
TOTAL = RATE * 62


def serve(s):
    while True:
        c, _ = s.accept()
        c.recv(4096)
        c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL)
        sent = 0
        while sent < TOTAL:
            c.sendall(b"d" * (RATE // 4))
            sent += RATE // 4
            time.sleep(0.25)
        c.close()


def before(env):
    env["SRC"] = "http://127.0.0.1:%d/shard" % kit.outside(serve)


def run():
    comm = kit.Star()
    for i in range(25):
        kit.work(0.2)
        if i == 15 and kit.rank() == 2:
            n = len(urllib.request.urlopen(os.environ["SRC"]).read())
            print("shard of %d bytes" % n, flush=True)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before, reaper=False)
