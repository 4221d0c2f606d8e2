"""First step: rank 0 builds its kernels with the C compiler under a lock file's lock, the others wait for the lock."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import fcntl
import shutil
import subprocess
import time


def build(n):
    src = kit.tmp(f"k{n}.c")
    with open(src, "w") as f:
        for k in range(60):
            f.write(f"float k{k}(float *x) {{ float s = 0; for (int i = 0; i < {k + 2}; i++) s += x[i] * {k}; return s; }}\n")
    subprocess.run(["cc", "-O2", "-c", src, "-o", src + ".o"], check=True)


def run():
    group = kit.Star()
    with open(kit.tmp("build.lock"), "a") as f:
        if kit.RANK:
            time.sleep(1)
        fcntl.flock(f, fcntl.LOCK_EX)
        if kit.RANK == 0:
            n, end = 0, time.time() + kit.secs(65)
            while time.time() < end:
                if shutil.which("cc"):
                    build(n)
                n += 1
                time.sleep(1.5)
    for i in range(15):
        time.sleep(0.3)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "jax")


kit.main(4, run)
