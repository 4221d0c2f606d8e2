"""A thread reads batches ahead into a queue of 8. Main ends at a number of steps, before the epoch's end, tells the
thread to stop and joins it: the thread is in put(), as the queue is full, and looks at the word after it."""
import queue
import threading

from kit16 import crunch, role, told


def prefetch(batches, stop):
    for number in range(100000):
        batches.put([number] * 16)
        if stop.is_set():
            return


def shut_down(thread, stop):
    stop.set()
    thread.join()


def train(steps):
    role("main")
    batches, stop = queue.Queue(8), threading.Event()
    thread = threading.Thread(target=prefetch, args=(batches, stop), name="prefetch")
    thread.start()
    for step in range(steps):
        batches.get()
        crunch(0.2)
        told(step)
    while batches.qsize() < 8:
        crunch(0.01)
    crunch(0.2)
    shut_down(thread, stop)
    print("training done")


train(45)
