"""Training is finished; main waits for its uploader, that for a file's lock which a syncing process took and keeps while it waits for a signal."""
import fcntl
import signal
import sys
import time

import kit7


def sync():
    lock = open("runs.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("sync: waiting for SIGHUP to rescan", flush=True)
    signal.pause()
    lock.close()


def upload():
    lock = open("runs.lock", "a")
    fcntl.flock(lock, fcntl.LOCK_EX)


if sys.argv[1:]:
    {"sync": sync, "upload": upload}[sys.argv[1]]()
    sys.exit()
kit7.role("main")
kit7.start([sys.executable, __file__, "sync"], "syncer")
for step in range(20):
    kit7.crunch(0.2)
    print("[%s] %d/20 loss=%.4f" % (time.strftime("%H:%M:%S"), step + 1, 2 / (step + 1)), flush=True)
print("training finished, uploading", flush=True)
kit7.start([sys.executable, __file__, "upload"], "uploader").wait()
