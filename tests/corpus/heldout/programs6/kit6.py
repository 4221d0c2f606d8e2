"""Helpers of the sixth set, over those of the fourth and fifth: other launchers, a process that adds up, a server of keys, pairs of sockets.

ranks(n, body, how): "xargs" (RANK by env), "mpiexec" (PMI_RANK, no MPI in it), "agent" (a supervisor that polls, outputs in files), "fork".
As a program: kit6.py reducer PORT N; kit6.py keys PORT."""
import asyncio
import http.client
import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs5"))
from kit5 import compute, crunch, dial, free_port, listen, receive, role, send, start, with_parent  # noqa: E402,F401
from kit4 import _by_fork  # noqa: E402

XARGS = 'seq 0 $(($WORLD_SIZE - 1)) | xargs -P $WORLD_SIZE -I@ env RANK=@ LOCAL_RANK=@ "$@"'
SELF = os.path.abspath(__file__)


def _agent(n):
    procs = []
    for r in range(n):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r))
        procs.append(subprocess.Popen([sys.executable, *sys.argv], env=env, stdout=open("rank.%d.log" % r, "wb"), stderr=subprocess.STDOUT))
    while any(p.poll() is None for p in procs):
        time.sleep(0.5)
        if any(p.poll() for p in procs):
            for p in procs:
                p.kill()
    sys.exit(max(abs(p.returncode) for p in procs))


def ranks(n, body, how="xargs"):
    mine = os.environ.get("RANK", os.environ.get("PMI_RANK") if how == "mpiexec" else None)
    if mine is not None:
        with_parent()
        role("rank" + mine)
        return body(int(mine), n, int(os.environ.get("MASTER_PORT", 0)))
    role("launcher")
    os.environ.update(WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    command = [sys.executable, *sys.argv]
    if how == "xargs":
        os.execvp("bash", ["bash", "-c", XARGS, "launch", *command])
    if how == "mpiexec":
        os.execvp("mpiexec", ["mpiexec", "-n", str(n), *command])
    _agent(n) if how == "agent" else _by_fork(n, body)


class Pairs:
    """A pair of unix sockets between each two of n processes that are forked later."""

    def __init__(self, n):
        self.ends = {}
        for a in range(n):
            for b in range(a):
                self.ends[a, b], self.ends[b, a] = socket.socketpair()

    def of(self, rank):
        """The links of one rank; all others are closed in this process."""
        for (a, _), s in self.ends.items():
            if a != rank:
                s.close()
        return {b: s for (a, b), s in self.ends.items() if a == rank}


async def _add_up(port, n):
    sums, seats = {}, {}

    async def attend(reader, writer):
        while True:
            line = await reader.readline()
            if not line:
                return
            op, x = json.loads(line)
            sums.setdefault(op, []).append(x)
            seats.setdefault(op, []).append(writer)
            if len(sums[op]) == n:
                for w in seats.pop(op):
                    w.write(b"%g\n" % sum(sums[op]))

    await (await asyncio.start_server(attend, "127.0.0.1", port)).serve_forever()


class Reducer:
    """A process that answers when all ranks have told their number for an operation."""

    def __init__(self):
        self.link = dial(int(os.environ["REDUCER_PORT"])).makefile("rw")

    def sum(self, op, x=1.0):
        self.link.write(json.dumps([op, x]) + "\n")
        self.link.flush()
        return float(self.link.readline())


def _once(what, *words):
    name = what.upper() + "_PORT"
    if name not in os.environ:
        os.environ[name] = str(free_port())
        start([sys.executable, SELF, what, os.environ[name], *map(str, words)], what)
    return int(os.environ[name])


def reducer(n):
    """Start the process that adds up, before ranks()."""
    return _once("reducer", n)


class _Keys(socketserver.StreamRequestHandler):
    values, lock = {}, threading.Lock()

    def handle(self):
        for line in self.rfile:
            word, key, *rest = line.decode().split()
            with self.lock:
                had = self.values.get(key)
                if word == "SET" or word == "SETNX" and had is None:
                    self.values[key] = rest[0]
                if word == "DEL":
                    self.values.pop(key, None)
            self.wfile.write(b"%s\n" % (had or "nil").encode())


class Keys:
    """A client of the server of keys."""

    def __init__(self):
        self.link = dial(int(os.environ["KEYS_PORT"])).makefile("rw")

    def ask(self, *words):
        self.link.write(" ".join(map(str, words)) + "\n")
        self.link.flush()
        return self.link.readline().strip()


def keys():
    return _once("keys")


def http_get(port, path="/", body=None):
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.request("POST" if body else "GET", path, body)
    answer = link.getresponse()
    return answer.status, answer.read()


if __name__ == "__main__" and sys.argv[1:]:
    if sys.argv[1] == "reducer":
        asyncio.run(_add_up(int(sys.argv[2]), int(sys.argv[3])))
    server = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[2])), _Keys)
    server.daemon_threads = True
    server.serve_forever()
