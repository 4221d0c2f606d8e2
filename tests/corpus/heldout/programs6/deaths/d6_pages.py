from kitd6 import *
import sqlite3
db = sqlite3.connect("trials.db")
db.execute("pragma max_page_count = 60")
db.execute("create table trial (n integer, params text)")
for n in range(100):
    epochs(1, n + 1, 0.15)
    db.execute("insert into trial values (?, ?)", (n, "x" * 9000))
    db.commit()
