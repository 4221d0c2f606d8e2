"""Ranks in a terminal on which somebody has pressed Ctrl-S to read what went by. Rank 0 writes its steps to that terminal."""
import os
import pty
import select
import sys
import time

import kit9


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(4000):
        time.sleep(0.1)
        hub.reduce(1.0)
        kit9.step(rank, s, 4000)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), 2, int(os.environ["MASTER_PORT"]))
    sys.exit(0)
kit9.role("terminal")
master, slave = pty.openpty()
port = kit9.free_port()
for r in range(2):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="2", MASTER_PORT=str(port))
    kit9.start([sys.executable, sys.argv[0]], "rank%d" % r, env=env, stdin=slave, stdout=slave, stderr=slave)
os.close(slave)
begin, pressed = time.monotonic(), False
while True:
    if not pressed and time.monotonic() - begin > 6:
        os.write(master, b"\x13")
        pressed = True
    if select.select([master], [], [], 1)[0]:
        sys.stdout.write(os.read(master, 4096).decode().replace("\r", ""))
        sys.stdout.flush()
