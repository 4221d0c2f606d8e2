"""MPI: rank 0 saves for a minute; the others test a non-blocking barrier every half second."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import shutil
import signal
import subprocess
import time


def run():
    from mpi4py import MPI
    c = MPI.COMM_WORLD
    r = c.Get_rank()
    kit.role(f"rank{r}")
    for i in range(18):
        time.sleep(0.3)
        if r == 0 and i == 9:
            for _ in range(62):
                time.sleep(kit.secs(1))
        q = c.Ibarrier()
        while not q.Test():
            time.sleep(0.5 if i == 9 else 0.01)
        if r == 0:
            kit.log(i, "iter")


if "OMPI_COMM_WORLD_RANK" in os.environ:
    run()
else:
    kit.role("launcher")
    exe = shutil.which("mpirun", path=os.path.dirname(sys.executable) + ":" + os.environ["PATH"])
    p = subprocess.Popen([exe, "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    sys.exit(p.wait())
