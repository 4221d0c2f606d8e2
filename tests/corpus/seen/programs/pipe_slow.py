"""A tokenizer child feeds rank 0 one line in eight seconds, each step needs one line."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import subprocess
import sys
import time

CODE = """
import sys, time
for i in range(22):
    print('tok', i, flush=True)
    time.sleep(0.2 if i < 13 else float(sys.argv[1]))
"""


def run():
    group = kit.Star()
    p = None
    if kit.RANK == 0:
        p = subprocess.Popen([sys.executable, "-c", CODE, str(kit.secs(8))], stdout=subprocess.PIPE)
        kit.role("tokenizer0", p.pid)
    for i in range(21):
        if p:
            p.stdout.readline()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)
    if p:
        p.wait()


kit.main(2, run)
