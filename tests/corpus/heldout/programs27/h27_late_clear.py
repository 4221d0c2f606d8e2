"""A thread reads the next batch; main asks for it by an event and waits for another one, "ready", which it clears after it
has asked. A batch that is in the cache is there before that: its "ready" is cleared, and waited for.

slow: ready is cleared before; one batch comes from an archive and takes 68 s."""
import threading
import time

from kit27 import SLOW, STALL, STEPS, crunch, role, tell

wanted, ready = threading.Event(), threading.Event()


def read():
    step = 0
    while True:
        wanted.wait()
        wanted.clear()
        if SLOW and step == STALL:
            time.sleep(68)
        if step != STALL:
            time.sleep(0.05)
        ready.set()
        step += 1


role("main")
threading.Thread(target=read, daemon=True).start()
for step in range(STEPS):
    if SLOW:
        ready.clear()
    wanted.set()
    crunch(0.01)
    if not SLOW:
        ready.clear()
    ready.wait()
    crunch(0.2)
    tell(step, "Train Epoch: {epoch} [{part}/30]  Loss: {loss:.6f}")
