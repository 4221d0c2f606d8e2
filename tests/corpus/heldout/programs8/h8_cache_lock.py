"""A server of cached features locks its file (POSIX lock) for as long as it lives; main wants to lock the file to add to it."""
import fcntl
import os
import sys

import kit8

if sys.argv[1:]:
    f = open("features.bin", "r+b")
    door = kit8.listen(int(sys.argv[1]))
    for number in range(10 ** 6):
        link, _ = door.accept()
        if number == 20:
            fcntl.lockf(f, fcntl.LOCK_EX)
        link.sendall(os.pread(f.fileno(), 100, number))
        link.close()
kit8.role("main")
port = kit8.free_port()
open("features.bin", "wb").write(os.urandom(5000))
kit8.start([sys.executable, __file__, str(port)], "cacher")
for step in range(1000):
    kit8.crunch(0.2)
    size = len(kit8.dial(port).recv(200))
    print("step %d features %d" % (step, size), flush=True)
    if step % 13 == 12:
        with open("features.bin", "ab") as f:
            fcntl.lockf(f, fcntl.LOCK_EX)
            f.write(os.urandom(100))
