"""A search over parameters, its trials in a database. Trial 2's process was killed; it is "running" in the table, which main reads each second."""
import os
import signal
import sqlite3
import sys
import time

import kit7


def table():
    return sqlite3.connect("study.db", isolation_level=None, timeout=20)


def trial(k):
    log = open("trial%d.log" % k, "w", buffering=1)
    for step in range(20):
        kit7.crunch(0.2)
        log.write("trial %d step %d value %.3f\n" % (k, step, 1 / (step + k + 1)))
        if k == 2 and step == 12:
            os.kill(os.getpid(), signal.SIGKILL)
    table().execute("update trials set state = 'complete' where number = ?", (k,))


if sys.argv[1:]:
    trial(int(sys.argv[1]))
    sys.exit()
kit7.role("main")
table().execute("create table trials (number, state)")
procs = []
for k in range(3):
    table().execute("insert into trials values (?, 'running')", (k,))
    procs.append(kit7.start([sys.executable, __file__, str(k)], "trial%d" % k))
while True:
    states = [s for s, in table().execute("select state from trials")]
    if "running" not in states:
        break
    time.sleep(1)
print(states, flush=True)
