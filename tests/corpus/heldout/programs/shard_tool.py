"""Rank 2's loader waits for a tool that reads from a server which says nothing."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import subprocess

GET = "import socket,sys\ns=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\ns.sendall(b'get\\n')\nsys.stdout.write(str(s.recv(100)))\n"


def serve(s):
    n, keep = 0, []
    while True:
        c, _ = s.accept()
        n += 1
        if n <= 2:
            c.sendall(b"data")
            c.close()
        else:
            keep.append(c)


def before(env):
    env["SHARDS"] = str(kit.outside(serve))


def loader(q):
    kit.die_with_parent()
    kit.role("loader2")
    while True:
        p = subprocess.Popen([sys.executable, "-c", GET, os.environ["SHARDS"]], stdout=subprocess.PIPE)
        kit.role("getter2", p.pid)
        shard = p.stdout.read()
        for _ in range(8):
            q.put(shard)


def run():
    comm = kit.Star()
    q = mp.Queue(2)
    if kit.rank() == 2:
        mp.get_context("fork").Process(target=loader, args=(q,), daemon=True).start()
    for i in range(1000):
        kit.work(0.25)
        if kit.rank() == 2:
            q.get()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run, before=before, reaper=False)
