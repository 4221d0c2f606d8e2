"""The first rank prepares the data under a file lock, the others wait for the lock."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import fcntl
import hashlib
import tempfile
import time

PATH = os.environ.get("CACHE") or tempfile.mkdtemp() + "/lock"


def before(env):
    env["CACHE"] = PATH


def prepare():
    with open(PATH, "a+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        if os.path.exists(PATH + ".ready"):
            return
        t, h = time.time() + 62, b""
        while time.time() < t:
            h = hashlib.md5(h + bytes(5000)).digest()
            time.sleep(0.005)
        open(PATH + ".ready", "w").close()


def run():
    if kit.rank() != 1:
        time.sleep(0.4)
    prepare()
    c = kit.Star()
    for i in range(8):
        kit.work(0.3)
        c.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before)
