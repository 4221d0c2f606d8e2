"""Rank 0 of three forked ranks sends its log records through a queue of 60 to a thread of the launcher, which writes
them. A record has a % too many, the thread ends by it, and nobody is told. The queue is full soon, rank 0 waits to
log, and the others wait for its gradient."""
import multiprocessing
import sys
import threading

from kit16 import Mesh, crunch, main, told

RECORDS = multiprocessing.Queue(60)


def write_records():
    with open("train.log", "a") as f:
        while True:
            words, values = RECORDS.get()
            f.write(words % values + "\n")


def log(words, *values):
    RECORDS.put((words, values))


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(600):
        crunch(0.1)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            if step == 50:
                log("3% of samples were cut at step %d", step)
            for layer in range(4):
                log("step %d layer %d", step, layer)


threading.excepthook = lambda args: print("logging is off:", args.exc_value, file=sys.stderr)
threading.Thread(target=write_records, name="log-writer", daemon=True).start()
main(3, body, "fork")
