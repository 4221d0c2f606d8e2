"""The study's database is locked."""
from job import *

import sqlite3
a = sqlite3.connect("study.db", isolation_level=None)
a.execute("create table t(x)")
a.execute("begin exclusive")
train(0, 20)
sqlite3.connect("study.db", timeout=0.3).execute("insert into t values (1)")
