"""MPI ranks in a ring; after some steps the tags of rank 1 and its neighbours differ."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def run():
    from mpi4py import MPI
    c = MPI.COMM_WORLD
    r, n = c.Get_rank(), c.Get_size()
    kit.role(f"rank{r}")
    for i in range(1000):
        time.sleep(0.25)
        if r == 1 and i == 15:
            c.recv(source=0, tag=99)
        c.allreduce(i)
        if r == 0:
            kit.step(i)


if "OMPI_COMM_WORLD_RANK" in os.environ:
    run()
else:
    import shutil
    import signal
    import subprocess
    kit.role("launcher")
    exe = shutil.which("mpirun", path=os.path.dirname(sys.executable) + ":" + os.environ["PATH"])
    p = subprocess.Popen([exe, "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    sys.exit(p.wait())
