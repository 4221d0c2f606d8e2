"""Somebody has stopped a terminal with Ctrl-S, reads, and goes on with Ctrl-Q after a minute."""
import os
import pty
import select
import sys
import time

import kit9


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(50):
        time.sleep(0.25)
        hub.reduce(1.0)
        kit9.step(rank, s, 50)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), 2, int(os.environ["MASTER_PORT"]))
    sys.exit(0)
kit9.role("terminal")
master, slave = pty.openpty()
port, procs = kit9.free_port(), []
for r in range(2):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="2", MASTER_PORT=str(port))
    procs.append(kit9.start([sys.executable, sys.argv[0]], "rank%d" % r, env=env, stdin=slave, stdout=slave, stderr=slave))
begin, keys = time.monotonic(), [(5, b"\x13"), (65, b"\x11")]
while any(p.poll() is None for p in procs):
    if keys and time.monotonic() - begin > keys[0][0]:
        os.write(master, keys.pop(0)[1])
    if select.select([master], [], [], 0.5)[0]:
        sys.stdout.write(os.read(master, 4096).decode().replace("\r", ""))
        sys.stdout.flush()
