"""Two ranks note results in one database. Rank 0 notes its best one too, and does not commit that: its transaction
stays open while it goes on. Rank 1 waits for the database, with a patience of days, and rank 0 in a sum for rank 1.

slow: rank 0 commits after an evaluation of 48 s."""
import sqlite3

from kit20 import SLOW, STEPS, Line, busy, crunch, main, told


def note(db, rank, step):
    db.execute("insert into results values (?, ?, ?)", (rank, step, 0.4))
    db.commit()


def note_best(db, rank, step):
    db.execute("insert into results values (?, ?, ?)", (rank, -1, 0.9))
    if SLOW:
        busy(48)
        db.commit()


def body(rank, world, port):
    db = sqlite3.connect("study.db", timeout=1e6)
    if rank == 0:
        db.execute("create table results (rank, step, score)")
        db.commit()
    line = Line(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        line.sum(0.4)
        if rank == 0:
            told(step)
        if rank == 0 and step == 37:
            note_best(db, rank, step)
        if rank == 1 and step and step % 20 == 0:
            note(db, rank, step)


main(2, body)
