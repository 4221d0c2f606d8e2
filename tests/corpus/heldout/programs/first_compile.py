"""Nothing is printed until a compiler child has built the first step."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess

CODE = """
import time, hashlib
t = time.time() + 58
h = b'x'
while time.time() < t:
    for _ in range(2000):
        h = hashlib.sha256(h).digest()
    time.sleep(0.01)
"""


def jit(fn):
    def first(*a):
        if not first.ready:
            if kit.rank() == 0:
                p = subprocess.Popen([sys.executable, "-c", CODE])
                kit.role("compiler", p.pid)
                if p.wait():
                    raise SystemExit(1)
            first.ready = True
        return fn(*a)
    first.ready = False
    return first


@jit
def train_step(x):
    kit.work(0.2)
    return x * 0.9


def run():
    star = kit.Star()
    x = 1.0
    for i in range(12):
        x = train_step(x)
        star.all_reduce(x)
        if kit.rank() == 0:
            kit.step(i, x)


kit.go(3, run)
