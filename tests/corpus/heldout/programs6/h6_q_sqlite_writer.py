"""A process writes for 62 s in one transaction, the other one waits for the database with a limit of two minutes."""
import sqlite3
import time

import kit6


def write(rank, world, port):
    db = sqlite3.connect("runs.db", timeout=120, isolation_level=None)
    db.execute("create table if not exists run (n integer, x real)")
    for n in range(12):
        kit6.crunch(0.2)
        db.execute("begin immediate")
        end = time.time() + 62
        while (rank, n) == (0, 7) and time.time() < end:
            db.executemany("insert into run values (?, ?)", [(k, kit6.compute(0.01)) for k in range(20)])
        db.execute("insert into run values (?, ?)", (n, 0.5))
        db.execute("commit")
        print("rank", rank, "stored", n, flush=True)


kit6.ranks(2, write, "fork")
