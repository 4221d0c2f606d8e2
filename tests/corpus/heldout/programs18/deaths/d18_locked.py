"""A trainer writes its metrics to a database in which an exporter has left a transaction open."""
import sqlite3

from kitd18 import *

exporter = sqlite3.connect("metrics.db", isolation_level=None)
exporter.execute("create table metrics (step integer, loss real)")
trainer = sqlite3.connect("metrics.db", timeout=0.5, isolation_level=None)
for k in range(10):
    told(5, 5 * k)
    if k == 5:
        exporter.execute("begin immediate")
    trainer.execute("insert into metrics values (?, ?)", (5 * k, 0.5))
