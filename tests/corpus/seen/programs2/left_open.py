"""Rank 2 captures the output of a tool that has ended; a cache daemon that the tool started keeps the pipe open."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import time

CODE = """
import os, time, sys
pid = os.fork()
if pid == 0:
    os.setsid()
    with open(os.environ.get('CORPUS_ROLES', '/dev/null'), 'a') as f: f.write('cached2 %d\\n' % os.getpid())
    while True: time.sleep(5)
print('index is ready')
"""


def run():
    group = kit.Ring()
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 2 and i == 16:
            subprocess.run([sys.executable, "-c", CODE], capture_output=True)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "json")


kit.main(4, run)
