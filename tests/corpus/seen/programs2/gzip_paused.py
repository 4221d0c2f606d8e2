"""A thread of rank 0 writes checkpoints through gzip(1); the gzip of one of them is stopped."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import threading
import time


def write(path, done, bad):
    with open(path, "wb") as out:
        p = subprocess.Popen(["gzip", "-1"], stdin=subprocess.PIPE, stdout=out)
        if bad:
            kit.role("gzip0", p.pid)
            kit.stop_after(p.pid, 0.3)
        for _ in range(12):
            p.stdin.write(os.urandom(1 << 16))
            time.sleep(0.05)
        p.stdin.close()
        p.wait()
    done.set()


def run():
    group = kit.Tree()
    done = threading.Event()
    done.set()
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 0 and i % 8 == 7:
            done.wait()
            done.clear()
            threading.Thread(target=write, args=(kit.tmp(f"ckpt{i}.gz"), done, i == 15), name="ckpt").start()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")


kit.main(6, run)
