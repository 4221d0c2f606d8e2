"""Rank 1 reads from a loader, that one from a decoder, that one from a store on a tape: a batch in twelve seconds."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import signal
import time


def hop(src, dst, pause):
    while True:
        b = os.read(src, 8) if src is not None else b"batch   "
        time.sleep(pause)
        if not b:
            return
        os.write(dst, b)


def chain(pids):
    src = None
    for name, pause in (("store", kit.secs(12)), ("decoder", 0.1), ("loader", 0.1)):
        r, w = os.pipe()
        old = src

        def body():
            os.close(r)
            hop(old, w, pause)

        pids.append(kit.fork_child(f"{name}{kit.RANK}", body))
        os.close(w)
        if old is not None:
            os.close(old)
        src = r
    return src


def run():
    group = kit.Star()
    pids = []
    src = chain(pids) if kit.RANK == 1 else None
    for i in range(6):
        if src:
            os.read(src, 8)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


kit.main(3, run)
