"""Two ranks. Rank 1 opens a shard for writing, on which a tool that copies has a lease: the kernel asks the tool to give
it up, and takes it after /proc/sys/fs/lease-break-time seconds, 45, if it does not."""
import fcntl
import os
import signal
import sys
import time

from kit24 import Descent, Mesh, main, start, told


def copy():
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    with open("shard", "w"):
        pass
    fd = os.open("shard", os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    os.rename("shard", "leased-shard")
    time.sleep(600)


def open_shard():
    return open("leased-shard", "r+b")


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "copy"], "copier")
    mesh, descent = Mesh(rank, world), Descent(rank)
    while not os.path.exists("leased-shard"):
        time.sleep(0.1)
    for step in range(55):
        if rank == 1 and step == 34:
            open_shard().close()
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


if "copy" in sys.argv:
    copy()
else:
    main(2, body)
