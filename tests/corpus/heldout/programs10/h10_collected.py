"""A pool of buffers takes back, by __del__, buffers that are garbage. The collector runs while the pool itself, with its lock held, makes one."""
import gc
import threading

import kit10


class Pool:
    def __init__(self):
        self.lock, self.free = threading.Lock(), []

    def get(self, k):
        with self.lock:
            if self.free:
                return Buffer(self, self.free.pop())
            if k % 16 == 15:
                gc.collect()  # the collector's own turn, which comes at one allocation or another
            return Buffer(self, bytearray(1 << 12))

    def put(self, data):
        with self.lock:
            self.free.append(data)


class Buffer:
    def __init__(self, pool, data):
        self.pool, self.data, self.me = pool, data, None

    def __del__(self):
        self.pool.put(self.data)


def main():
    kit10.role("main")
    gc.disable()
    pool = Pool()
    for k in range(200):
        kit10.crunch(0.05)
        buffer = pool.get(k)
        if k >= 30:
            buffer.me = buffer  # a circle, for the collector only
        if k % 10 == 0:
            print("batch %d loaded" % k, flush=True)


main()
