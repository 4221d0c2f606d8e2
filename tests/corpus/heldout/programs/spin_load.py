"""Two ranks spin on a flag in shared memory while rank 0 loads data."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time
from multiprocessing import shared_memory

PAUSE = float(sys.argv[1])


def before(env):
    global shm
    shm = shared_memory.SharedMemory(create=True, size=64)
    env["SHM"] = shm.name
    import atexit
    atexit.register(shm.unlink)


def arrive(buf, r, i):
    buf[r] = i
    while min(buf[0:3]) < i:
        time.sleep(0)


def load(sec):
    t = time.time() + sec
    while time.time() < t:
        with open("/proc/self/smaps") as f:
            f.read()
        time.sleep(0.05)


def run():
    s = shared_memory.SharedMemory(name=os.environ["SHM"])
    for i in range(1, 25):
        kit.work(0.2)
        if i == 16 and kit.rank() == 0:
            load(PAUSE)
        arrive(s.buf, kit.rank(), i)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before)
