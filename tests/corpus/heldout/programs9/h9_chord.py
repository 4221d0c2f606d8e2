"""Twelve tasks and one that is due when all twelve are counted in a table. The task that failed was not counted; its worker goes on looking
for tasks, and main looks at the count once a second."""
import sqlite3
import sys
import time

import kit9


def table():
    db = sqlite3.connect("tasks.sqlite", isolation_level=None, timeout=30)
    db.execute("create table if not exists task(id integer primary key, state text)")
    return db


def work(name):
    db = table()
    while True:
        row = db.execute("update task set state=? where id=(select min(id) from task where state='new') returning id", (name,)).fetchone()
        if not row:
            time.sleep(0.5)
            continue
        try:
            kit9.crunch(0.3)
            if row[0] == 8:
                raise ValueError("corpus part %d has no column 'text'" % row[0])
            db.execute("update task set state='done' where id=?", row)
            print("[%s] task %d done" % (name, row[0]), flush=True)
        except ValueError as error:
            print("[%s] task %d raised: %s" % (name, row[0], error), flush=True)


if sys.argv[1:]:
    work(sys.argv[1])
kit9.role("main")
db = table()
db.executemany("insert into task values(?, 'new')", [(k,) for k in range(1, 13)])
for name in ("worker0", "worker1"):
    kit9.start([sys.executable, sys.argv[0], name], name)
while db.execute("select count(*) from task where state='done'").fetchone()[0] < 12:
    time.sleep(1)
print("merging", flush=True)
