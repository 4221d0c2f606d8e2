"""Three forked ranks send their log records through a queue of 200 to a thread of the launcher, which writes them. A
record has a % too many, the thread ends by it, and nobody is told. The queue is full soon, and all ranks wait to log."""
import multiprocessing
import sys
import threading

from kit16 import Mesh, crunch, main, told

RECORDS = multiprocessing.Queue(200)


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
        if (rank, step) == (1, 40):
            log("rank %d: 3% of samples were cut at step %d", rank, step)
        for layer in range(4):
            log("rank %d step %d layer %d", rank, step, layer)


threading.excepthook = lambda args: print("logging is off:", args.exc_value, file=sys.stderr)
threading.Thread(target=write_records, name="log-writer", daemon=True).start()
main(3, body, "fork")
