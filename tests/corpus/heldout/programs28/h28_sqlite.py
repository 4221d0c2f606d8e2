"""Two ranks write their trials into one database. Rank 1's trial fails between BEGIN and COMMIT, the error is caught ("pruned")
and its transaction stays open; it goes to the sum, where rank 0, which waits for the database, does not come.

slow: rank 1 copies a large table in its transaction for 66 s."""
import sqlite3
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, main, tell


def report(base, rank, step):
    if not rank and step == STALL:
        time.sleep(1)
    try:
        base.execute("BEGIN IMMEDIATE")
        base.execute("INSERT INTO trials VALUES (?, ?, ?)", (rank, step, 0.5))
        if rank and step == STALL:
            if not SLOW:
                raise ValueError("trial pruned at step %d" % step)
            for k in range(66):
                base.execute("INSERT INTO trials VALUES (?, ?, ?)", (9, k, 0.5))
                time.sleep(1)
        base.execute("COMMIT")
    except ValueError as error:
        print("rank %d: %s" % (rank, error), flush=True)


def body(rank, world, port):
    star = Star(rank, world)
    base = sqlite3.connect("study.db", timeout=7200, isolation_level=None)
    if rank == 0:
        base.execute("CREATE TABLE IF NOT EXISTS trials (rank, step, value)")
    star.barrier("table")
    for step in range(STEPS):
        compute()
        if step % 10 == 0:
            report(base, rank, step)
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step)


main(2, body)
