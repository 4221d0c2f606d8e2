"""Two ranks that talk by a tree of TCP. Rank 1 uploads from a thread, which a function that is registered for the end
of the program tells to stop. The interpreter waits for threads before it calls such functions: the training is done,
and rank 1 does not end. Rank 0 waits until rank 1 has closed its connection."""
import atexit
import queue
import threading

from kit23 import Line, Tree, crunch, main, told

TALKS = []


class Uploader:
    def __init__(self):
        self.todo = queue.Queue()
        self.thread = threading.Thread(target=self.upload_always, name="uploader")
        self.thread.start()
        atexit.register(self.stop)

    def upload_always(self):
        while self.todo.get() is not None:
            crunch(0.1)

    def stop(self):
        self.todo.put(None)
        self.thread.join()


def goodbye(tree):
    for kid in tree.kids:
        while kid.recv(4096):
            pass


def body(rank, world, port):
    tree, line = Tree(rank, world, port), Line(rank)
    TALKS.append(tree)
    uploader = Uploader() if rank == 1 else None
    for step in range(40):
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if uploader and step % 10 == 0:
            uploader.todo.put(line.slope)
        if rank == 0:
            told(step, line.loss)
    if rank == 0:
        goodbye(tree)


main(2, body)
