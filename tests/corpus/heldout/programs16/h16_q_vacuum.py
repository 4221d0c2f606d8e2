"""A search writes its results to sqlite. Another process of it makes statistics for 48 s in a transaction; the writer
waits for its lock, with a time limit of ten minutes."""
import multiprocessing
import sqlite3

from kit16 import compute, crunch, role, told, with_parent


def connect():
    return sqlite3.connect("study.db", timeout=600, isolation_level=None)


def statistics(began):
    with_parent()
    role("statistics")
    study = connect()
    study.execute("begin exclusive")
    began.set()
    compute(48)
    study.execute("update trials set mean = 0.4")
    study.execute("commit")


def search():
    role("main")
    study = connect()
    study.execute("create table trials (id integer primary key, loss real, mean real)")
    helper = None
    for step in range(50):
        crunch(0.2)
        told(step)
        if step == 30:
            began = context.Event()
            helper = context.Process(target=statistics, args=(began,))
            helper.start()
            began.wait()
        study.execute("insert into trials (loss) values (0.5)")
    helper.join()


context = multiprocessing.get_context("fork")
search()
