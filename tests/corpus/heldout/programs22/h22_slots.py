"""Two ranks over TCP; rank 1 has a process that decodes into a ring of eight slots of shared memory. The slots are freed when a
batch is complete. From step 30 on batches are of twelve: the process waits for a free slot, rank 1 for the ninth image.

slow: the slots are freed one by one, and the process needs 48 s for one image."""
import mmap
import multiprocessing

from kit22 import SLOW, STEPS, Mesh, Model, busy, crunch, main, role, with_parent

SLOTS = 8


class Ring:
    def __init__(self, context):
        self.free, self.full = context.Semaphore(SLOTS), context.Semaphore(0)
        self.memory = mmap.mmap(-1, SLOTS)

    def decode_always(self):
        with_parent()
        role("decoder")
        n = 0
        while True:
            self.free.acquire()
            crunch(0.01)
            if SLOW and n == 200:
                busy(48)
            self.memory[n % SLOTS] = n % 251
            self.full.release()
            n += 1

    def batch(self, begin, size):
        got = []
        for k in range(begin, begin + size):
            self.full.acquire()
            got.append(self.memory[k % SLOTS])
            if SLOW:
                self.free.release()
        for _ in range(0 if SLOW else size):
            self.free.release()
        return [(b / 255, 3 * b / 255 + 1) for b in got]


def body(rank, world, port):
    mesh, model, taken = Mesh(rank, world, port), Model(rank), 0
    if rank == 1:
        ring = Ring(multiprocessing.get_context("fork"))
        multiprocessing.get_context("fork").Process(target=ring.decode_always, daemon=True).start()
    for step in range(STEPS):
        size = 6 if step < 30 else 12
        batch = ring.batch(taken, size) if rank == 1 else model.batch()
        taken += size
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(batch)))
        if rank == 0:
            model.told(step)


main(2, body)
