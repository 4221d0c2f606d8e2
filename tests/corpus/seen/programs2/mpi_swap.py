"""MPI: ranks 1 and 2 send halos to each other with a synchronous send, both first."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import shutil
import signal
import subprocess
import time


def run():
    import numpy as np
    from mpi4py import MPI
    c = MPI.COMM_WORLD
    r = c.Get_rank()
    kit.role(f"rank{r}")
    buf, got = np.zeros(1 << 18), np.zeros(1 << 18)
    for i in range(1000):
        time.sleep(0.35)
        if r in (1, 2):
            other = 3 - r
            if i < 18:
                c.Sendrecv(buf, other, recvbuf=got, source=other)
            else:
                c.Ssend(buf, other)
                c.Recv(got, other)
        c.Barrier()
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
