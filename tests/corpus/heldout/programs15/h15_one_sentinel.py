"""Two consumers tokenize what a feeder puts into a queue. The feeder ends it with one None; the quick
consumer takes it and leaves, the slow one waits for more, and main for that one."""
import multiprocessing
import time

from kit15 import me, role


def feed(documents):
    me("feeder")
    for k in range(120):
        documents.put("document %d" % k)
        time.sleep(0.08)
    time.sleep(3)
    documents.put(None)


def consume(n, documents, seconds):
    me("consumer%d" % n)
    for k, text in enumerate(iter(documents.get, None)):
        time.sleep(seconds)
        if n == 0 and k % 5 == 0:
            print("step %d tokens %d" % (k, len(text)), flush=True)
    print("consumer %d done" % n, flush=True)


if __name__ == "__main__":
    role("main")
    documents = multiprocessing.Queue()
    procs = [multiprocessing.Process(target=consume, args=(n, documents, (0.02, 1.5)[n])) for n in range(2)]
    procs.append(multiprocessing.Process(target=feed, args=(documents,)))
    for p in procs:
        p.start()
    for p in reversed(procs):
        p.join()
    print("all done", flush=True)
