"""The first step compiles kernels in a child for 60 s on rank 0; the rest waits at the first all-reduce."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import subprocess
import sys
import time

BUSY = "import time,sys\nend=time.time()+float(sys.argv[1])\nx=0\nwhile time.time()<end:\n  x=sum(range(20000)); time.sleep(0.01)\n"


def build():
    p = subprocess.Popen([sys.executable, "-c", BUSY, str(kit.secs(62))])
    kit.role("compiler0", p.pid)
    p.wait()


def run():
    kit.services(1)
    group = kit.Star()
    print("compiling the first step", flush=True)
    if kit.RANK == 0:
        build()
    for i in range(15):
        group.barrier()
        time.sleep(0.2)
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
