"""A base of trials is compacted by its keeper for a minute; the trainer's next trial waits, by sqlite's own waiting."""
import sqlite3
import time

import kit10


def keeper(path):
    base = sqlite3.connect(path, isolation_level=None, timeout=20)
    time.sleep(6)
    base.execute("begin exclusive")
    time.sleep(58)
    base.execute("commit")


name, words = kit10.job()
if name:
    keeper(*words)
else:
    kit10.role("main")
    base = sqlite3.connect("trials.db", isolation_level=None, timeout=120)
    base.execute("create table trials (id integer, loss real)")
    helper = kit10.again("keeper", "trials.db")
    for k in range(60):
        kit10.crunch(0.2)
        base.execute("insert into trials values (?, ?)", (k, 1 / (1 + k)))
        print("trial %d saved" % k, flush=True)
    helper.wait()
