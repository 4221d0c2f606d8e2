"""Trainer -> feature server -> database server -> its lock -> a backup that waits for a tape (a FIFO that nobody writes)."""
import fcntl
import os
import sys
import time

import kit4


def backup():
    with open("db.lock", "w") as f:
        while True:
            fcntl.flock(f, fcntl.LOCK_EX)
            if os.path.exists("backup.now"):
                open("tape").read()
            fcntl.flock(f, fcntl.LOCK_UN)
            time.sleep(0.5)


def database(port):
    s, _ = kit4.listen(port).accept()
    while True:
        key = kit4.receive(s)
        with open("db.lock", "r") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            row = [key] * 4
        kit4.send(s, row)


def features(port, db):
    up = kit4.dial(db)
    s, _ = kit4.listen(port).accept()
    while True:
        key = kit4.receive(s)
        kit4.send(up, key)
        kit4.send(s, [x * 0.1 for x in kit4.receive(up)])


def main():
    kit4.role("main")
    os.mkfifo("tape")
    one, two = kit4.free_port(), kit4.free_port()
    for words in (["backup"], ["database", str(one)], ["features", str(two), str(one)]):
        kit4.start([sys.executable, __file__, *words], words[0])
    while not os.path.exists("db.lock"):
        time.sleep(0.05)
    s = kit4.dial(two)
    for step in range(1000):
        kit4.send(s, step)
        kit4.receive(s)
        kit4.crunch(0.2)
        print("step %d" % step, flush=True)
        if step == 14:
            open("backup.now", "w").close()


if len(sys.argv) > 1:
    globals()[sys.argv[1]](*map(int, sys.argv[2:]))
else:
    main()
