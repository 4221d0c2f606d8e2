"""An engine hands requests to its workers by a ring of blocks in shared memory; a block may be used again when every worker has read it.
Worker 2 has met an error with its adapter's lock held and wants the lock again."""
import mmap
import os
import threading
import time

import kit10

N, BLOCKS = 3, 4
adapters = threading.Lock()


def page(path):
    fd = os.open(path, os.O_RDWR)
    return mmap.mmap(fd, 4096)


def engine(path):
    ring, k = page(path), 0
    while k < 200:
        at, since = (k % BLOCKS) * 64, time.monotonic()
        while ring[at] and any(ring[at + 1 + r] == 0 for r in range(N)):
            time.sleep(0.002)
            if time.monotonic() - since > 30:
                print("No available shared memory broadcast block found in 30 seconds", flush=True)
                since = time.monotonic()
        ring[at + 1:at + 1 + N] = bytes(N)
        ring[at + 10], ring[at] = k % 250, 1 + k // BLOCKS % 200
        k += 1
        time.sleep(0.1)
        if k % 10 == 0:
            print("engine: %d requests" % k, flush=True)


def swap(rank, k):
    adapters.acquire()
    try:
        if rank == 2 and k == 23:
            raise ValueError("no adapter 23")
        adapters.release()
    except ValueError:
        pass


def worker(rank, path):
    ring = page(path)
    for k in range(200):
        at = (k % BLOCKS) * 64
        while ring[at] != 1 + k // BLOCKS % 200:
            time.sleep(0.002)
        swap(rank, k)
        ring[at + 1 + rank] = 1


name, words = kit10.job()
if name == "engine":
    engine(words[0])
elif name:
    worker(int(name[4:]), words[0])
else:
    kit10.role("launcher")
    with open("broadcast.ring", "wb") as f:
        f.write(bytes(4096))
    jobs = [kit10.again("engine", "broadcast.ring")]
    for r in range(N):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(N), LOCAL_RANK=str(r))
        jobs.append(kit10.again("rank%d" % r, "broadcast.ring", env=env))
    raise SystemExit(max(p.wait() for p in jobs))
