"""Four workers of a sweep append their trial's row to a file under a lock of a Manager. Worker 2 leaves by
sys.exit() in between acquire() and release() since its loss is not finite; the others wait for the lock at
the manager."""
import multiprocessing
import sys

from kit14 import crunch, role, with_parent


def write(lock, row, worker):
    lock.acquire()
    if row["loss"] != row["loss"]:
        print("worker %d: loss is nan, giving up" % worker, flush=True)
        sys.exit(1)
    with open("trials.csv", "a") as f:
        f.write("%s\n" % row)
    lock.release()


def sweep(worker, lock):
    with_parent()
    role("worker%d" % worker)
    for trial in range(200):
        crunch(0.5)
        loss = float("nan") if (worker, trial) == (2, 16) else 1.0 / (trial + 1)
        write(lock, {"trial": trial, "loss": loss}, worker)
        if worker == 0:
            print("trial %d loss %.3f" % (trial, loss), flush=True)


if __name__ == "__main__":
    role("main")
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        role("manager", manager._process.pid)
        lock = manager.Lock()
        workers = [context.Process(target=sweep, args=(w, lock), name="sweep-%d" % w) for w in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
