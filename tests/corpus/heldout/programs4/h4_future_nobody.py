"""Predictions are handed out as Futures that a batching thread completes; it does not survive an odd request."""
import concurrent.futures
import queue
import threading

import kit4

requests = queue.Queue()


def batcher():
    try:
        while True:
            x, future = requests.get()
            future.set_result(100 / (x % 40 - 13))
    except ZeroDivisionError:
        pass


def predict(x):
    future = concurrent.futures.Future()
    requests.put((x, future))
    return future.result()


kit4.role("main")
threading.Thread(target=batcher, daemon=True, name="batcher").start()
for i in range(400):
    kit4.crunch(0.2)
    y = predict(i)
    print("request %d -> %.2f" % (i, y), flush=True)
