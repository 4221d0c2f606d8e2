"""A trainer under asyncio whose batches are read by a thread, which sets the loop's event when one is there. That call
is not made for threads and does not wake the loop. While a bar is drawn ten times a second it is awake often enough;
the bar ends with the warm-up.

slow: the thread asks the loop to set it, and one batch takes 48 s."""
import asyncio
import queue
import threading
import time

from kit20 import SLOW, STEPS, role, told

role("main")


def read_batches(loop, wanted, there):
    for step in iter(wanted.get, None):
        time.sleep(48 if SLOW and step == 40 else 0.15)
        if SLOW:
            loop.call_soon_threadsafe(there.set)
        else:
            there.set()


async def bar():
    for _ in range(80):
        await asyncio.sleep(0.1)


async def train():
    wanted, there = queue.Queue(), asyncio.Event()
    reader = threading.Thread(target=read_batches, args=(asyncio.get_running_loop(), wanted, there), name="reader")
    reader.start()
    warm_up = asyncio.create_task(bar())
    for step in range(STEPS):
        wanted.put(step)
        await there.wait()
        there.clear()
        told(step)
    wanted.put(None)
    await warm_up


asyncio.run(train())
