"""Ranks note their results in one SQLite file; rank 0 holds a long transaction, the others try again until it is over."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import sqlite3
import time


def note(path, i):
    db = sqlite3.connect(path, timeout=120, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO runs VALUES (?, ?)", (kit.RANK, i))
    if kit.RANK == 0 and i == 12:
        for k in range(63):          # folds old rows together
            db.execute("INSERT INTO runs VALUES (-1, ?)", (k,))
            time.sleep(kit.secs(1))
    db.execute("COMMIT")
    db.close()


def setup():
    db = sqlite3.connect(kit.tmp("runs.db"))
    db.execute("CREATE TABLE runs (r INTEGER, i INTEGER)")
    db.commit()
    db.close()


def run():
    group = kit.Tree()
    for i in range(20):
        time.sleep(0.3)
        if i % 4 == 0:
            note(kit.tmp("runs.db"), i)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "plain")


kit.main(4, run, setup)
