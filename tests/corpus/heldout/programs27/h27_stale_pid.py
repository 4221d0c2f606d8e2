"""Rank 1 downloads a vocabulary if no download runs: "download.pid" is there, and a process of that number lives. It is the number
of a download of an earlier container, and now that of the metrics' daemon. Rank 0 waits in its sum.

slow: it is the number of a real download, which takes 68 s."""
import os
import socket
import subprocess
import sys
import time

from kit27 import OWN, SLOW, STALL, STEPS, WORDS, crunch, role, tell, with_parent


def runs(path):
    try:
        with open(path) as f:
            os.kill(int(f.read()), 0)
        return True
    except (OSError, ValueError):
        return False


def train(rank, end):
    for step in range(STEPS):
        crunch(0.2)
        if rank == 1 and step == STALL:
            while runs("download.pid"):
                time.sleep(2)
            with open("vocabulary", "w") as f:
                f.write("x")
        end.sendall(b"g")
        end.recv(1)
        if rank == 0:
            tell(step, "(rank0) step {step}: {loss:.4f}")


def beside():
    time.sleep(90 if SLOW else 6000)


def launch():
    role("launcher")
    left, right = socket.socketpair()
    helper = subprocess.Popen(OWN + ["beside"] + WORDS, preexec_fn=with_parent)
    role("daemon", helper.pid)
    with open("download.pid", "w") as f:
        f.write("%d\n" % helper.pid)
    ranks = []
    for r, end in enumerate((left, right)):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="2")
        ranks.append(subprocess.Popen(OWN + ["rank", str(end.fileno())] + WORDS, env=env, pass_fds=[end.fileno()], preexec_fn=with_parent))
        role("rank%d" % r, ranks[-1].pid)
        end.close()
    while any(p.poll() is None for p in ranks):
        helper.poll()
        time.sleep(0.5)
    sys.exit(max(p.wait() for p in ranks))


if "beside" in sys.argv:
    beside()
elif "rank" in sys.argv:
    train(int(os.environ["RANK"]), socket.socket(fileno=int(sys.argv[2])))
else:
    launch()
