"""Rank 0 sorts its file list with sort(1) and reads the answer, but never ends the input."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import time


def run():
    group = kit.Tree()
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 0 and i % 8 == 7:
            p = subprocess.Popen(["sort", "-u"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            kit.role("sort", p.pid)
            p.stdin.write(b"b\na\nc\n")
            p.stdin.flush()
            if i < 20:
                p.stdin.close()
            p.stdout.read()
            p.wait()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")


kit.main(5, run)
