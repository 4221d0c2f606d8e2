"""Leaves its parent behind the way daemons do, then takes MIB of memory at RATE MiB/s.

double_fork.py MIB RATE PIDFILE [leave]

The first process waits for the daemon to end and then exits 0, so that the job lives as long as it does; with `leave` it
ends at once, as daemons' parents do.
"""
import mmap
import os
import pathlib
import sys
import time

mib, rate, pidfile = int(sys.argv[1]), float(sys.argv[2]), pathlib.Path(sys.argv[3])
alive, held_by_daemon = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(alive)
    pidfile.with_suffix(".new").write_text(str(os.getpid()))
    pidfile.with_suffix(".new").rename(pidfile)
    blocks, start = [], time.monotonic()
    while len(blocks) < mib:
        blocks.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        for page in range(0, 1 << 20, mmap.PAGESIZE):
            blocks[-1][page] = 1
        time.sleep(max(0, len(blocks) / rate - (time.monotonic() - start)))
    time.sleep(30)
    os._exit(0)
os.close(held_by_daemon)
os.wait()
if "leave" not in sys.argv:
    os.read(alive, 1)  # end of file when the daemon is gone
