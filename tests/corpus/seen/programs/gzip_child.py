"""Rank 1 waits for a child that packs the logs for 65 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import subprocess
import sys
import time

PACK = """
import sys, time, zlib, os
end = time.time() + float(sys.argv[1])
z = zlib.compressobj(6)
while time.time() < end:
    z.compress(os.urandom(20000)); time.sleep(0.02)
"""


def pack():
    p = subprocess.Popen([sys.executable, "-c", PACK, str(kit.secs(65))])
    kit.role("packer1", p.pid)
    p.wait()


def run():
    kit.services(2)
    group = kit.Star()
    for i in range(18):
        time.sleep(0.25)
        if i == 12 and kit.RANK == 1:
            pack()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
