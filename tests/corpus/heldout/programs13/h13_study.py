"""Two ranks of a search keep their trials in one sqlite file. Rank 0 opens the transaction that writes a trial's
result before it has the sum of both scores, for which it waits; rank 1 writes its own line before it goes to
the sum, and waits for the file. "slow": rank 0 has the file for 45 s as it computes importances."""
import sqlite3
import time

from kit13 import SLOW, Hub, as_json, crunch, main


def body(rank, world, port):
    if rank == 0:
        with sqlite3.connect("study.db") as db:
            db.execute("create table trials (rank, trial, score)")
    hub = Hub(rank, world, port)
    hub.reduce(0)
    db = sqlite3.connect("study.db", timeout=7200, isolation_level=None)
    for trial in range(30):
        crunch(0.2)
        late = trial == 12
        if late and rank == 0:
            db.execute("begin immediate")
            if SLOW:
                time.sleep(45)
            score = trial / 7 if SLOW else hub.reduce(trial / 7)
            db.execute("insert into trials values (?, ?, ?)", (rank, trial, score))
            db.execute("commit")
            if SLOW:
                hub.reduce(score)
        else:
            time.sleep(1 if late else 0.1 * rank)
            db.execute("insert into trials values (?, ?, ?)", (rank, trial, trial / 9))
            hub.reduce(trial / 9)
        if rank == 0:
            as_json(trial=trial, state="COMPLETE")


if __name__ == "__main__":
    main(2, body)
