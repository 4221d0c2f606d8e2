"""A module builds its tables for 60 s while it is imported, in one thread; main imports it too and waits for that."""
import os
import sys
import threading

import kit9

TABLES = """
import time
table = []
for k in range(600):
    table.append(k * k)
    time.sleep(0.1)
"""

kit9.role("main")
with open("tables.py", "w") as f:
    f.write(TABLES)
sys.path.insert(0, os.getcwd())
early = threading.Thread(target=__import__, args=("tables",))
early.start()
for k in range(10):
    kit9.crunch(0.2)
    print("read shard", k, flush=True)
import tables  # noqa: E402

for k in range(10):
    kit9.crunch(0.2)
    print("shard", k, "looked up", tables.table[k], flush=True)
early.join()
