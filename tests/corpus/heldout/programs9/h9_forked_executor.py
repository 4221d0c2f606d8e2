"""A module keeps a pool of threads for reading files. A loader that is forked later uses it: the pool believes that a thread of it is idle,
and that thread is in the parent."""
import concurrent.futures
import multiprocessing
import time

import kit9

readers = concurrent.futures.ThreadPoolExecutor(2)


def read(name):
    time.sleep(0.05)
    return len(name)


def load(out):
    kit9.with_parent()
    kit9.role("loader")
    for k in range(200):
        out.send(readers.submit(read, "shard-%d" % k).result())


if __name__ == "__main__":
    kit9.role("main")
    for k in range(12):
        print("index of shard %d: %d" % (k, readers.submit(read, "index-%d" % k).result()), flush=True)
        time.sleep(0.2)
    source, out = multiprocessing.Pipe(duplex=False)
    multiprocessing.get_context("fork").Process(target=load, args=(out,)).start()
    for k in range(200):
        print("batch", k, source.recv(), flush=True)
