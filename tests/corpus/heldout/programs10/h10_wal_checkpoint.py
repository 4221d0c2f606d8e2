"""Trials are kept in a sqlite base with a log in front of it, which the trainer empties now and then. A dashboard has begun to read and keeps
its snapshot while it waits for its browser; the trainer tries on."""
import os
import socket
import sqlite3
import time

import kit10


def dashboard(path, port):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("begin")
    base.execute("select count(*) from trials").fetchone()
    door = kit10.listen(int(port))
    link, _ = door.accept()
    link.recv(1000)
    link.sendall(b"rows")
    link.recv(1000)  # the next page


def train(path, port):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("pragma journal_mode=wal")
    base.execute("create table trials (id integer, loss real)")
    base.execute("insert into trials values (0, 1)")
    kit10.again("dashboard", path, port)
    browser = kit10.dial(int(port))
    browser.sendall(b"first page")
    browser.recv(1000)
    for k in range(60):
        kit10.crunch(0.1)
        base.execute("insert into trials values (?, ?)", (k, 1 / (1 + k)))
        print("trial %d saved" % k, flush=True)
        if k % 10 == 9:
            while base.execute("pragma wal_checkpoint(truncate)").fetchone()[0]:
                time.sleep(0.2)


name, words = kit10.job()
if name:
    dashboard(*words)
else:
    kit10.role("main")
    train(os.path.abspath("trials.db"), str(kit10.free_port()))
