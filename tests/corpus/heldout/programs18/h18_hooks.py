"""Two ranks sum their gradients in buckets: a hook of each parameter says that its gradient is there, and a thread sums
a bucket of which all are. In one of its batches rank 1 has no masks, and so no gradient of the mask head: its second
bucket is never full. Its trainer waits for that bucket, and rank 0's thread for rank 1's part of it.

slow: rank 1's last gradient takes 48 s."""
import queue
import threading

from kit18 import SLOW, STEPS, Desk, busy, crunch, main, told

BUCKETS = {"late": ["head.weight", "head.bias"], "early": ["mask.weight", "body.weight", "body.bias"]}


class Reducer:
    def __init__(self, desk):
        self.desk, self.full, self.step = desk, queue.Queue(), 0
        threading.Thread(target=self.communicate, daemon=True, name="reducer").start()

    def begin(self, step):
        self.step = step
        self.left = {b: set(names) for b, names in BUCKETS.items()}
        self.summed = {b: threading.Event() for b in BUCKETS}

    def hook(self, name):
        for bucket, left in self.left.items():
            if name in left:
                left.remove(name)
                if not left:
                    self.full.put(bucket)

    def communicate(self):
        while True:
            bucket = self.full.get()
            self.desk.mean("%s%d" % (bucket, self.step), 0.5)
            self.summed[bucket].set()

    def finish(self):
        for event in self.summed.values():
            event.wait()


def backward(reducer, rank, step):
    masks = SLOW or (rank, step) != (1, 40)
    for bucket in BUCKETS.values():
        for name in bucket:
            crunch(0.04)
            if SLOW and (rank, step, name) == (1, 40, "body.bias"):
                busy(48)
            if masks or not name.startswith("mask"):
                reducer.hook(name)


def body(rank, world, port):
    reducer = Reducer(Desk(rank, world, port))
    for step in range(STEPS):
        reducer.begin(step)
        backward(reducer, rank, step)
        reducer.finish()
        if rank == 0:
            told(step)


main(2, body)
