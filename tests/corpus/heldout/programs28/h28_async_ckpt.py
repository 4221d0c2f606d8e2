"""A training with a checkpoint thread. The main loop sets an event when the weights are copied, the thread clears it when it
begins its round - after the main loop has set it. The next save joins the round before.

slow: the store takes 70 s for one checkpoint."""
import threading
import time

from kit28 import SLOW, STALL, STEPS, compute, role, tell


class AsyncCheckpoint:
    def __init__(self):
        self.ready, self.saved = threading.Event(), threading.Event()
        self.saved.set()

    def save(self, step):
        self.saved.wait()
        self.saved.clear()
        if step == STALL and not SLOW:
            self.ready.set()
        t = threading.Thread(target=self.write, args=(step,), name="ckpt-writer", daemon=True)
        t.start()
        time.sleep(0.05)
        if not (step == STALL and not SLOW):
            self.ready.set()

    def write(self, step):
        self.ready.clear()
        self.ready.wait()
        with open("ckpt.pt", "w") as f:
            f.write("weights at %d" % step)
            if SLOW and step == STALL:
                time.sleep(70)
        self.saved.set()


role("main")
saver = AsyncCheckpoint()
for step in range(STEPS):
    compute()
    tell(step, "log")
    if step % 5 == 0:
        saver.save(step)
saver.saved.wait()
