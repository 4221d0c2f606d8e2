"""A search over parameters, its trials in a database that main reads each second. Trial 1 waits for its cluster's answer for 65 s and then ends well."""
import sqlite3
import sys
import time

import kit7


def table():
    return sqlite3.connect("study.db", isolation_level=None, timeout=20)


def trial(k):
    with open("trial%d.log" % k, "w", buffering=1) as log:
        for step in range(20):
            kit7.crunch(0.2)
            log.write("trial %d step %d value %.3f\n" % (k, step, 1 / (step + k + 1)))
    if k == 1:
        time.sleep(65)
    table().execute("update trials set state = 'complete' where number = ?", (k,))


if sys.argv[1:]:
    trial(int(sys.argv[1]))
    sys.exit()
kit7.role("main")
table().execute("create table trials (number, state)")
for k in range(3):
    table().execute("insert into trials values (?, 'running')", (k,))
    kit7.start([sys.executable, __file__, str(k)], "trial%d" % k)
while "running" in [s for s, in table().execute("select state from trials")]:
    time.sleep(1)
print("best value 0.0476", flush=True)
