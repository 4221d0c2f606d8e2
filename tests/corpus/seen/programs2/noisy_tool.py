"""Rank 1 reads the rows of a feature tool up to their end; the tool complains to an error pipe that nobody reads."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import time

CODE = """
import sys
for i in range(3000):
    print(i, flush=True)
    if i > 40: sys.stderr.write('warning: column %d has no statistics, using the defaults\\n' % i * 2)
"""


def run():
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.35)
        if kit.RANK == 1 and i == 20:
            p = kit.tool("featurizer1", CODE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for line in p.stdout:
                pass
            p.wait()
        group.barrier()


kit.main(4, run)
