"""A search keeps its trials in sqlite. Main adds the trials of a round and starts two workers, which write their
results there. In the third round it adds them with a BEGIN IMMEDIATE and waits for the workers before it commits."""
import multiprocessing
import sqlite3

from kit16 import crunch, role, with_parent


def connect():
    return sqlite3.connect("study.db", timeout=1e6, isolation_level=None)


def worker(number, trials, round_):
    with_parent()
    role("worker%d" % number)
    study = connect()
    for step in range(12):
        crunch(0.2)
        if number == 0 and step % 4 == 0:
            print("step %d trial %d" % (round_ * 12 + step, trials), flush=True)
    study.execute("update trials set loss = ? where id = ?", (0.3, trials))


def rounds():
    role("main")
    study = connect()
    study.execute("create table trials (id integer primary key, rate real, loss real)")
    for round_ in range(8):
        if round_ == 2:
            study.execute("begin immediate")
        ids = [study.execute("insert into trials (rate) values (?)", (0.1,)).lastrowid for _ in range(2)]
        workers = [context.Process(target=worker, args=(n, i, round_)) for n, i in enumerate(ids)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        if study.in_transaction:
            study.execute("commit")


context = multiprocessing.get_context("fork")
rounds()
