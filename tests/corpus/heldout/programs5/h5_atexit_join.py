"""At its end each rank joins its uploading thread by atexit; rank 2 left its loop by an exception and never gave the thread an end."""
import atexit
import queue
import threading

import kit5


class Uploader:
    def __init__(self):
        self.q = queue.Queue()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        atexit.register(self.thread.join)

    def run(self):
        for part in iter(self.q.get, None):
            kit5.crunch(0.01)

    def finish(self):
        self.q.put(None)


def train(rank, world, port):
    group, uploader = kit5.Butterfly(rank, world, port), Uploader()
    try:
        for step in range(12):
            kit5.crunch(0.2)
            uploader.q.put(group.reduce(1))
            if rank == 0:
                print("step", step, flush=True)
        if rank == 2:
            raise StopIteration("no more data")
        uploader.finish()
    except StopIteration as end:
        print("rank 2:", end, flush=True)
    print("rank", rank, "is done", flush=True)


kit5.ranks(4, train)
