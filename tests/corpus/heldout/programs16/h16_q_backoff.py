"""A hub says to come again in 50 s, and a training that wants its next shard sleeps so long and goes on."""
import time

from kit16 import crunch, role, told


class Hub:
    def __init__(self):
        self.free_at = None

    def shard(self, number):
        if number != 2:
            return b"\0" * 4096, 0
        self.free_at = self.free_at or time.time() + 50
        return b"\0" * 4096, max(0, self.free_at - time.time())


def fetch(hub, number):
    while True:
        body, later = hub.shard(number)
        if not later:
            return body
        time.sleep(later)


def train():
    role("main")
    hub = Hub()
    for step in range(60):
        if step % 15 == 0:
            fetch(hub, step // 15)
        crunch(0.2)
        told(step)
    print("training done")


train()
