"""Somebody kills the loading process; the training tells it and leaves."""
import multiprocessing
import queue

from kitd23 import role, steps


def load(batches):
    role("loader")
    for k in range(1000):
        batches.put([k] * 8)


if __name__ == "__main__":
    batches = multiprocessing.Queue(2)
    loader = multiprocessing.Process(target=load, args=(batches,), daemon=True)
    loader.start()
    for k in range(300):
        try:
            batches.get(timeout=0.5)
        except queue.Empty:
            if not loader.is_alive():
                raise SystemExit("DataLoader worker (pid %d) is killed by signal: %d" % (loader.pid, -loader.exitcode))
        steps(1, k)
