"""main walks a query's rows and hands each to a writer process that stores a score in the same database and answers when it is stored."""
import multiprocessing as mp
import sqlite3

import kit5


def write(conn):
    kit5.with_parent()
    kit5.role("writer")
    while True:
        row, score = conn.recv()
        with sqlite3.connect("trials.db", timeout=100000) as db:
            db.execute("insert into score values (?, ?)", (row, score))
        conn.send("stored")


def main():
    kit5.role("main")
    db = sqlite3.connect("trials.db")
    db.executescript("create table trial (n integer, note text); create table score (n integer, x real)")
    db.executemany("insert into trial values (?, ?)", [(n, "x" * 3000) for n in range(200)])
    db.commit()
    here, there = mp.Pipe()
    mp.Process(target=write, args=(there,), daemon=True).start()
    there.close()
    for lot in (db.execute("select n from trial where n < 12").fetchall(), db.execute("select n from trial where note > ''")):
        for n, in lot:  # the first lot is in memory, the second one is read as it goes
            kit5.crunch(0.2)
            here.send((n, 0.5))
            print("trial", n, here.recv(), flush=True)


main()
