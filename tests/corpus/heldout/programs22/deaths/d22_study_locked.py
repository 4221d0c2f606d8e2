"""A search over parameters keeps its trials in a file of sqlite. Another worker has begun to write and does not end it."""
import sqlite3

from kitd22 import told

other = sqlite3.connect("study.db", isolation_level=None)
other.execute("create table trials (id integer, value real)")
study = sqlite3.connect("study.db", timeout=1)
for trial in range(3):
    told(10, 10 * trial)
    if trial == 2:
        other.execute("begin immediate")
    with study:
        study.execute("insert into trials values (?, ?)", (trial, 0.5))
