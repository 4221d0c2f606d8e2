"""Three ranks in a ring. Records go through a bounded queue to a listening thread, which has died: a record's format had one
%d too many, and the except clause around it was for OSError. When the queue is full, rank 1 stands in put().

slow: the listener's file is on a slow disk, a flush takes 67 s."""
import queue
import threading
import time

from kit28 import SLOW, STALL, STEPS, Ring, compute, main, tell


class Listener:
    def __init__(self, rank):
        self.queue = queue.Queue(20)
        self.file = open("rank%d.log" % rank, "w")
        threading.Thread(target=self.listen, name="log-listener", daemon=True).start()

    def listen(self):
        while True:
            text, args = self.queue.get()
            try:
                self.file.write(text % args + "\n")
                if SLOW and args[0] == STALL - 24:
                    time.sleep(67)
                self.file.flush()
            except OSError:
                pass


def body(rank, world, port):
    ring, log = Ring(rank, world), Listener(rank)
    threading.excepthook = lambda *_: None
    for step in range(STEPS):
        compute()
        bad = rank == 1 and step == STALL - 24 and not SLOW
        log.queue.put(("step %d of %d" if bad else "step %d", (step,)) if rank == 1 else ("%d", (0,)))
        ring.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "log")


main(3, body)
