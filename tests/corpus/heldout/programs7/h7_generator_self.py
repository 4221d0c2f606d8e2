"""A generator of batches has a thread that reads the generator itself for the next ones: it is told that it runs already, and leaves."""
import queue
import threading

import kit7


def batches(depth):
    rows = queue.Queue(depth)

    def fill(source):
        try:
            for n in source:
                rows.put(n)
        except ValueError as error:
            print("prefetch:", error, flush=True)

    for n in range(20):
        yield n
    threading.Thread(target=fill, args=(own[0],), name="prefetch", daemon=True).start()
    while True:
        yield rows.get()


kit7.role("main")
own = []
own.append(batches(4))
for step in own[0]:
    kit7.crunch(0.2)
    print("step", step, "of 1000", flush=True)
