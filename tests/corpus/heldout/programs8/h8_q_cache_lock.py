"""A cacher rewrites its file for 63 s under a POSIX lock, a block each half second; main wants the lock."""
import fcntl
import os
import sys
import time

import kit8

if sys.argv[1:]:
    with open("features.bin", "r+b") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        open("cacher.up", "w").close()
        for block in range(126):
            f.write(os.urandom(4096))
            f.flush()
            time.sleep(0.5)
    sys.exit()
open("features.bin", "wb").write(os.urandom(5000))
for step in range(30):
    kit8.crunch(0.2)
    print("step %d features %d" % (step, os.path.getsize("features.bin")), flush=True)
    if step == 14:
        kit8.start([sys.executable, __file__, "rewrite"], "cacher")
        kit8.wait_for("cacher.up")
        with open("features.bin", "ab") as f:
            fcntl.lockf(f, fcntl.LOCK_EX)
            f.write(os.urandom(100))
