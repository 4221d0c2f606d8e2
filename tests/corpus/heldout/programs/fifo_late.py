"""A FIFO whose writer comes after a minute."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess
import tempfile

d = tempfile.mkdtemp()


def main():
    kit.role("main")
    os.mkfifo(d + "/feed")
    for i in range(14):
        kit.work(0.3)
        kit.step(i)
    p = subprocess.Popen(["sh", "-c", "sleep 60; echo batch > %s/feed" % d])
    kit.role("producer", p.pid)
    with open(d + "/feed") as f:
        print("got", f.read().strip(), flush=True)
    p.wait()


main()
