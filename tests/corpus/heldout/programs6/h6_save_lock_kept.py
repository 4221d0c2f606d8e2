"""An agent starts three ranks with their output in files. Rank 0's save failed once: the lock that it took by acquire() is kept, the error was told."""
import threading

import kit6

saving = threading.Lock()


def save(step):
    saving.acquire()
    if step == 10:
        raise OSError(28, "No space left on device")
    kit6.crunch(0.05)
    saving.release()


def train(rank, world, port):
    total = kit6.Reducer()
    for step in range(1000):
        kit6.crunch(0.15)
        total.sum(step)
        if rank == 0:
            print("iteration", step, flush=True)
            if step % 10 == 0 and step:
                try:
                    save(step)
                except OSError as error:
                    print("could not save:", error, flush=True)


kit6.reducer(3)
kit6.ranks(3, train, "agent")
