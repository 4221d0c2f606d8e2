"""Buffers go back into a free list, a queue of two, when they are collected. The one who takes them collects a third one, and put waits for himself."""
import queue

import kit7


class Buffer:
    def __init__(self, free):
        self.free, self.ring = free, self

    def __del__(self):
        self.free.put(id(self))


kit7.role("main")
log, free = kit7.logger(), queue.Queue(2)
for step in range(1000):
    kit7.crunch(0.2)
    used = [Buffer(free) for _ in range(2 if step < 20 else 3)]
    for buffer in used:
        buffer.ring = None
    log.info("step %d, %d buffers", step, len(used))
    del used, buffer
    while not free.empty():
        free.get()
