"""Rank 1 fails and is gone; its loader has inherited the sockets and keeps them open, so that nobody sees the end."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import shutil
import signal
import subprocess
import tempfile
import time


def load(r):
    while os.read(r, 1):
        time.sleep(0.05)


def run():
    kit.role(f"rank{kit.RANK}")
    group = kit.Star()
    r, w = os.pipe()
    kit.fork_child(f"loader{kit.RANK}", load, r)
    for i in range(1000):
        time.sleep(0.4)
        os.write(w, b"n")
        if kit.RANK == 1 and i == 20:
            print("[rank 1] RuntimeError: no kernel image is available, leaving", flush=True)
            os._exit(1)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "json")


if "RANK" in os.environ:
    run()
else:
    kit.role("launcher")
    d = tempfile.mkdtemp()
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), shutil.rmtree(d, ignore_errors=True), os._exit(143)))
    env = dict(os.environ, JOB_TMP=d, WORLD_SIZE="4", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(kit.free_port()))
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env=dict(env, RANK=str(r), LOCAL_RANK=str(r))) for r in range(4)]
    sys.exit(max(p.wait() for p in ranks))
