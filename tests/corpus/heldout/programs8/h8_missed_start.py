"""Worker 0 publishes the start of the next epoch; worker 1 subscribes after it has written its checkpoint, and that was too late."""
import time

import kit8


def epoch(number, rank):
    for step in range(12):
        kit8.crunch(0.2)
        print("epoch %d worker %d step %d loss %.3f" % (number, rank, step, 1.9 / (number * 12 + step + 1)), flush=True)


def train(rank, n, port):
    db, ear = kit8.Lists(), kit8.Lists()
    for number in range(50):
        if rank:
            if rank == 1 and number == 2:
                time.sleep(2)
            ear.ask("SUBSCRIBE", "start:%d" % number)
            db.ask("LPUSH", "ready:%d" % number, rank) if number < 2 else None
            ear.hear()
        else:
            for _ in range(1, n) if number < 2 else ():
                db.ask("BRPOP", "ready:%d" % number)
            time.sleep(0.3)
            db.ask("PUBLISH", "start:%d" % number, "go")
        epoch(number, rank)
        if rank:
            db.ask("LPUSH", "done:%d" % number, rank)
        else:
            print("finished by", [db.ask("BRPOP", "done:%d" % number) for _ in range(1, n)], flush=True)


kit8.lists()
kit8.ranks(3, train, "flag")
