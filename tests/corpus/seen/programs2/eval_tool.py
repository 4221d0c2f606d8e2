"""Rank 1 runs the evaluation as a program of its own for a minute and more; the others wait in a tree."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import time

CODE = """
import sys, time
end = time.time() + float(sys.argv[1])
hits = 0
while time.time() < end:
    hits += sum(k % 7 == 3 for k in range(20000))
    time.sleep(0.05)
"""


def run():
    group = kit.Tree()
    for i in range(24):
        time.sleep(0.3)
        if kit.RANK == 1 and i == 12:
            subprocess.run([sys.executable, "-c", CODE, str(kit.secs(66))], check=True)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")


kit.main(5, run)
