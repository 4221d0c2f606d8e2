"""Rank 0 runs a script with its output captured; the script leaves a daemon behind that still has the pipe."""
import subprocess
import sys

import kit5

DAEMON = 'import sys; sys.path.insert(0, %r); import kit5; kit5.role("daemon"); d = kit5.listen(0); d.accept()'


def cache_server():
    script = '"$0" -c "$1" & echo started'
    here = kit5.os.path.dirname(kit5.os.path.abspath(__file__))
    return subprocess.run(["sh", "-c", script, sys.executable, DAEMON % here], capture_output=True, check=True).stdout


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        if rank == 0 and step == 10:
            cache_server()
        group.reduce(1)
        if rank == 1:
            print("step", step, flush=True)


kit5.ranks(4, train)
