from kitd8 import *
import sqlite3
db = sqlite3.connect("runs.db")
db.execute("create table trial (number integer unique, score real)")
for attempt in range(3):
    try:
        db.execute("insert into trials values (1, 0.5)")
    except sqlite3.OperationalError as error:
        log.warning("attempt %d: %s", attempt, error)
fit(6)
db.execute("insert into trial values (7, 0.1)")
db.execute("insert into trial values (7, 0.2)")
