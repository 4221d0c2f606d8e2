#!/usr/bin/python3
"""Threads with names of all kinds; "ready" once all wait. Those that are asked for are NAMES."""
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

NAMES = ["a-loader-with-a-name-that-is-far-longer-than-the-kernel-keeps", "größe-的工人的工人的工人", "mine", "with a dict", "pool_0", "pool_1"]
end = threading.Event()


class Mine(threading.Thread):
    def __init__(self, name):
        super().__init__(daemon=True)
        self.before, self.name = 1, name

    def run(self):
        end.wait()


if __name__ == "__main__":
    for name in NAMES[:2]:
        threading.Thread(target=end.wait, name=name, daemon=True).start()
    Mine(NAMES[2]).start()
    other = Mine(NAMES[3])
    vars(other)["more"] = 2
    other.start()
    pool = ThreadPoolExecutor(2, thread_name_prefix="pool")
    for _ in range(2):
        pool.submit(end.wait)
    print("ready", flush=True)
    sys.stdin.read()
    end.set()
