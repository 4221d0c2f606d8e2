"""A preparation of data in a pool. Its log goes through a writer's thread with a lock of its own, which the thread holds
while it writes. A process that is forked in that moment has the lock, but not the thread."""
import multiprocessing
import sys
import threading
import time

from kit25 import STALL, STEPS, Log, crunch, role, with_parent


class Journal:
    def __init__(self):
        self.lock, self.lines, self.writing = threading.Lock(), [], threading.Event()
        threading.Thread(target=self.write, daemon=True).start()

    def add(self, line):
        with self.lock:
            self.lines.append(line)

    def write(self):
        with open("journal.txt", "w") as f:
            while True:
                time.sleep(0.5)
                with self.lock:
                    self.writing.set()
                    f.writelines(self.lines)
                    f.flush()
                    time.sleep(0.2)
                    self.lines.clear()
                    self.writing.clear()


journal = Journal()


def tokenize(shard):
    crunch(0.2)
    journal.add("shard %d\n" % shard)
    return shard * 31


def begin():
    with_parent()
    role("worker")


def prepare():
    role("main")
    log = Log("plain")
    for step in range(STALL):
        tokenize(step)
        log(step, 1 / (1 + step))
    journal.writing.wait()
    context = multiprocessing.get_context("fork")
    with context.Pool(2, begin) as pool:
        for step, _ in enumerate(pool.imap(tokenize, range(STALL, STEPS)), STALL):
            log(step, 1 / (1 + step))


sys.exit(prepare())
