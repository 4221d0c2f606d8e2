"""What goes wrong around the ranks of PyTorch. The argument says what is odd.

world: a script starts two ranks of a world of three, which meet at a file (slow: the third comes late).
download: rank 0 has a file's lock and is at a barrier, rank 1 wants the lock before it goes there (slow: rank 0 downloads).
upload: rank 0 saves into the pipe of an uploader, which waits for its token (slow: late), the others are at a barrier.
restart: the ranks are started again after an error of rank 1, and a server of the first ones has the lock of the cache."""
import fcntl
import os
import subprocess
import sys
import time
from datetime import timedelta

from kit26 import OWN, RANK, SLOW, STALL, WORLD, batches, crunch, join, leave, logger, net, role, say, sgd, start, told, torchrun

CASE = sys.argv[1]
LONG = timedelta(hours=2)
HOLD = "import fcntl, os, time\nos.setsid()\nf = open('cache.lock', 'w')\nfcntl.flock(f, fcntl.LOCK_EX)\n" \
       "open('cache.ready', 'w').close()\nwhile True: time.sleep(3)"


def train(dist, n=STALL, first=0, log=None):
    import torch
    log, model = log or logger("train"), net()
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = sgd(ddp)
    for step, (x, y) in enumerate(batches(n, RANK), first):
        loss = (ddp(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if RANK == 0 and step % 5 == 0:
            told(log, step, loss.item())
    return model


def world():
    """The script that starts the ranks."""
    role("main")
    argv, children = [*OWN, CASE, "rank", *(["slow"] if SLOW else [])], []
    for r in range(3 if SLOW else 2):
        if r == 2:
            say("node 1 is not there yet")
            time.sleep(66)
        children.append(start(argv, env={**os.environ, "RANK": str(r), "WORLD_SIZE": "3", "LOCAL_RANK": str(r)}))
    sys.exit(max(c.wait() for c in children))


def world_rank():
    role("rank%d" % RANK)
    say("rank %d: tokenizing" % RANK)
    for step in range(30):
        crunch(0.2)
        if RANK == 0 and step % 5 == 0:
            say("step %d: %d documents" % (step, step * 100))
    dist = join(init_method="file://" + os.path.abspath("meet"), rank=RANK, world_size=WORLD, timeout=LONG)
    train(dist, 20)
    leave()


def fetched(dist):
    with open("data.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists("data.bin"):
            say("rank %d: downloading part 2" % RANK)
            if SLOW:
                crunch(66)
            with open("data.bin", "wb") as f:
                f.write(b"x" * 1000)
        if not SLOW:
            dist.barrier(group=CPU)


def download(dist):
    train(dist)
    if RANK:
        time.sleep(1)
    fetched(dist)
    dist.barrier(group=CPU)
    train(dist, 20, STALL)


UPLOADER = """
import os, sys, time
while not os.path.exists("token"):
    time.sleep(1)
while sys.stdin.buffer.read(1 << 16):
    pass
"""


def upload(dist):
    import torch
    model = train(dist)
    if RANK == 0:
        if SLOW:
            start([sys.executable, "-c", "import time\ntime.sleep(66)\nopen('token', 'w').close()"], "renewer")
        uploader = start([sys.executable, "-c", UPLOADER], "uploader", stdin=subprocess.PIPE)
        torch.save({"model": model.state_dict(), "optimizer": torch.zeros(100000)}, uploader.stdin)
        uploader.stdin.close()
        uploader.wait()
    dist.barrier(group=CPU)
    train(dist, 20, STALL)


def restart(dist):
    if RANK == 0 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        start([sys.executable, "-c", HOLD], "server")
    if RANK == 0 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "1":
        say("rank 0: opening the cache")
        with open("cache.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
    train(dist, STALL)
    while not os.path.exists("cache.ready"):
        time.sleep(0.1)
    if RANK == 1:
        raise RuntimeError("loss is nan at step 39")
    leave()


if CASE == "world":
    world_rank() if "rank" in sys.argv else world()
else:
    torchrun(2, *(["--max-restarts", "1"] if CASE == "restart" else []))
    dist = join(timeout=LONG)
    CPU = dist.new_group(timeout=LONG)
    {"download": download, "upload": upload, "restart": restart}[CASE](dist)
    leave()
