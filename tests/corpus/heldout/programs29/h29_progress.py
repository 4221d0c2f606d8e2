"""Training of one process with a thread that draws a progress line twice a second, under a lock that log lines take as well. At the end of
the epoch main writes its summary under the lock, and stops the thread there ("so that it does not draw over it"): join() waits for the
thread, the thread for the lock.

slow: the thread is stopped outside of the lock; the summary computes a matrix of confusion for 68 s under it."""
import sys
import threading

from kit29 import SLOW, STALL, STEPS, Model, busy, role, time


class Progress:
    def __init__(self, lock, total):
        self.lock, self.total, self.done, self.loss = lock, total, 0, 0.0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.draw, name="progress")
        self.thread.start()

    def draw(self):
        while not self.stopping.is_set():
            with self.lock:
                print("\r%4d/%d steps, loss %.4f" % (self.done, self.total, self.loss), end="", file=sys.stderr, flush=True)
            time.sleep(0.5)
        with self.lock:
            print(file=sys.stderr, flush=True)

    def stop(self):
        self.stopping.set()
        self.thread.join()


def confusion():
    return busy(68)


def epoch(number, steps, model, lock):
    progress = Progress(lock, steps)
    for step in range(steps):
        model.update(model.gradient())
        progress.done, progress.loss = step + 1, model.loss()
    with lock:
        if SLOW and number == 0:
            confusion()
        print("\nepoch %d: loss %.4f" % (number, model.loss()), flush=True)
        if not SLOW:
            progress.stop()
    progress.stop()


def main():
    role("main")
    lock, model = threading.Lock(), Model()
    for number in range(2 if SLOW else 40):
        epoch(number, STALL if number == 0 else 16, model, lock)


main()
