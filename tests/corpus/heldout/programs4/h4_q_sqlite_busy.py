"""Two processes share a sqlite file; one copies rows in a long transaction, the other waits for it with a time limit of five minutes."""
import os
import sqlite3
import sys
import time

import kit4

if sys.argv[1:] == ["copy"]:
    db = sqlite3.connect("runs.db", isolation_level=None)
    db.execute("create table runs (k, v)")
    db.execute("begin exclusive")
    open("begun", "w").close()
    end = time.time() + 65
    while time.time() < end:
        db.executemany("insert into runs values (?, ?)", [(k, "x" * 50) for k in range(2000)])
        db.execute("delete from runs")
    db.execute("commit")
    sys.exit(0)
kit4.role("main")
kit4.start([sys.executable, __file__, "copy"], "copier")
while not os.path.exists("begun"):
    time.sleep(0.05)
print("reading runs", flush=True)
db = sqlite3.connect("runs.db", timeout=300)
print(db.execute("select count(*) from runs").fetchone())
