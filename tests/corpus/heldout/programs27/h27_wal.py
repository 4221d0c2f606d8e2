"""Rank 0 trims the log of a database of samples before it lets the others go on: it repeats a checkpoint until that is
not busy. Rank 1 holds an old snapshot by a cursor that it has not read to its end, and waits for rank 0.

slow: rank 1 reads its cursor to the end, which takes 65 s."""
import socket
import sqlite3
import time

from kit27 import SLOW, STALL, STEPS, crunch, dial, listen, main, receive, send, tell


def trim(base):
    while base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        time.sleep(0.5)


def train(rank, world, port):
    base = sqlite3.connect("samples.db", timeout=0.2, isolation_level=None)
    if rank == 0:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("CREATE TABLE samples (step INTEGER, x TEXT)")
        base.executemany("INSERT INTO samples VALUES (?, ?)", [(-k, "x" * 500) for k in range(500)])
        other = listen(port).accept()[0]
    else:
        other = dial(port)
    cursor = None
    for step in range(STEPS):
        crunch(0.2)
        if rank == 0:
            base.execute("INSERT INTO samples VALUES (?, ?)", (step, "x" * 500))
        if rank == 1 and step == STALL:
            cursor = base.execute("SELECT * FROM samples")
            cursor.fetchone()
            if SLOW:
                for _ in range(65):
                    cursor.fetchone()
                    time.sleep(1)
                cursor.fetchall()
        if rank == 0:
            if step % 30 == 0:
                receive(other)
                base.execute("INSERT INTO samples VALUES (?, ?)", (step, "y"))
                trim(base)
                send(other, "go on")
            tell(step, "samples={step} loss={loss:.4f}")
        elif step % 30 == 0:
            send(other, "here")
            receive(other)


main(2, train)
