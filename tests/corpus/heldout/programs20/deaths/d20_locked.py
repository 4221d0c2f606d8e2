"""Two workers of a search note their trials in one database; one keeps its transaction open while it trains."""
import sqlite3

from kitd20 import *

if "worker" in sys.argv:
    db = sqlite3.connect("study.db")
    db.execute("insert into trials values (1)")
    time.sleep(60)
db = sqlite3.connect("study.db", timeout=2)
db.execute("create table trials (number)")
db.commit()
told(20)
worker = subprocess.Popen([sys.executable, sys.argv[0], "worker"])
try:
    told(20, 20)
    db.execute("insert into trials values (0)")
    db.commit()
finally:
    worker.kill()
