"""A producer is faster than its consumer: the queue's feeder grows in the producer."""
from mem import *

role("main")
import multiprocessing as mp
def produce(q):
    role("producer")
    while True:
        q.put(bytes(block(1)))
        time.sleep(0.01)
if __name__ == "__main__":
    q = mp.get_context("fork").Queue()
    mp.get_context("fork").Process(target=produce, args=(q,)).start()
    for i in range(1000):
        q.get()
        print("step", i, flush=True)
        time.sleep(0.3)
