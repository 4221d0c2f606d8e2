"""A training has done its 110 steps and says so. A thread that writes metrics waits for more of them, and is no daemon:
the interpreter waits for it before it ends."""
import queue
import sys
import threading

from kit25 import STALL, Log, Model, role


def write(metrics):
    with open("metrics.txt", "w") as f:
        while True:
            f.write("%d %f\n" % metrics.get())


def train():
    role("main")
    metrics = queue.Queue()
    threading.Thread(target=write, args=(metrics,), name="metrics").start()
    model, log = Model(), Log("logger")
    for step in range(STALL + 10):
        model.step(model.backward())
        metrics.put((step, model.loss))
        log(step, model.loss)
    print("training finished, best loss %.4f" % model.loss, flush=True)


sys.exit(train())
