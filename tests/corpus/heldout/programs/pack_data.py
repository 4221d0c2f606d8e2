"""A rank waits for a child that packs a file."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess

PACK = """
import zlib, os, time
t = time.time() + 60
while time.time() < t:
    zlib.compress(os.urandom(60000) + bytes(60000), 9)
    time.sleep(0.01)
"""


def run():
    ring = kit.Ring()
    kit.services(1)
    for i in range(20):
        kit.work(0.2)
        if i == 14 and kit.rank() == 1:
            p = subprocess.Popen([sys.executable, "-c", PACK], stdout=subprocess.PIPE)
            kit.role("packer", p.pid)
            p.communicate()
        ring.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
