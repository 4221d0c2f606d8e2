"""A launcher keeps its ranks' errors for a summary: stderr=PIPE, read after they have ended. Rank 1 warns at each step of
a deprecated call, until its pipe is full; rank 0 waits for its gradient.

slow: rank 1 warns less, and at one step it waits for 66 s for a file of a mirror that is rsynced in the night."""
import os
import socket
import subprocess
import sys
import time

from kit27 import OWN, SLOW, STALL, STEPS, WORDS, crunch, role, tell, with_parent


def launch():
    role("launcher")
    left, right = socket.socketpair()
    ranks = []
    for r, end in enumerate((left, right)):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="2")
        ranks.append(subprocess.Popen(OWN + ["rank", str(end.fileno())] + WORDS, env=env, stderr=subprocess.PIPE, pass_fds=[end.fileno()],
                                      preexec_fn=with_parent))
        role("rank%d" % r, ranks[-1].pid)
        end.close()
    for r, p in enumerate(ranks):
        code = p.wait()
        print("rank %d: %d, %d bytes of errors" % (r, code, len(p.stderr.read())), flush=True)


def mirror():
    role("mirror")
    with_parent()
    time.sleep(66)
    with open("night.new", "w") as f:
        f.write("x")
    os.rename("night.new", "night")


def train(rank, end):
    for step in range(STEPS):
        crunch(0.2)
        if rank == 1 and (not SLOW or step % 40 == 0):
            print("/opt/env/torchvision/transforms/functional.py:%d: UserWarning: the default value of antialias will change. %s"
                  % (step, "." * 640), file=sys.stderr, flush=True)
        if SLOW and rank == 1 and step == STALL:
            subprocess.Popen(OWN + ["mirror"])
            while not os.path.exists("night"):
                time.sleep(1)
        end.sendall(b"g" * 64)
        got = 0
        while got < 64:
            got += len(end.recv(64 - got))
        if rank == 0:
            tell(step, "{{'loss': {loss:.4f}, 'epoch': {epoch}}}")


if "rank" in sys.argv:
    train(int(os.environ["RANK"]), socket.socket(fileno=int(sys.argv[2])))
elif "mirror" in sys.argv:
    mirror()
else:
    launch()
