"""Two ranks over TCP. Rank 1 has two loading processes, which read from one open archive under a lock, as it has one place
of reading. The first one is killed for its memory while it reads a large record; the second one waits for the lock, rank 1
for the next batch, rank 0 for rank 1."""
import multiprocessing
import os
import signal

from kit22 import STEPS, Mesh, Model, busy, crunch, main, role, with_parent


def read_record(archive, n):
    archive.seek(64 * (n % 50))
    if n == 60:
        busy(1.5)
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does it for a group's limit of memory
    return archive.read(64)


def load(which, archive, lock, batches):
    with_parent()
    role("loader%d" % which)
    for n in range(which, 10 * STEPS, 2):
        with lock:
            record = read_record(archive, n)
        crunch(0.15)
        batches.put([(b / 255, 3 * b / 255 + 1) for b in record])


def next_batch(batches):
    return batches.get()


def body(rank, world, port):
    mesh, model = Mesh(rank, world, port), Model(rank)
    if rank == 1:
        with open("archive.bin", "wb") as f:
            f.write(os.urandom(64 * 50))
        context = multiprocessing.get_context("fork")
        batches, lock, archive = context.Queue(4), context.Lock(), open("archive.bin", "rb")
        loaders = [context.Process(target=load, args=(w, archive, lock, batches), name="loader-%d" % w) for w in range(2)]
        for loader in loaders:
            loader.start()
    for step in range(STEPS):
        batch = next_batch(batches) if rank == 1 else model.batch()
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(batch)))
        if rank == 0:
            model.told(step)


main(2, body)
