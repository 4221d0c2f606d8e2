"""One trainer process: the loop's own thread waits in a plain queue for a thread that waits for the loop."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio
import queue
import threading
import time


async def lookup(k):
    await asyncio.sleep(0.05)
    return k


def feeder(loop, q):
    for k in range(10 ** 6):
        if k and k % 15 == 0:
            k = asyncio.run_coroutine_threadsafe(lookup(k), loop).result()
        else:
            time.sleep(0.4)
        q.put(k)


async def train():
    q = queue.Queue()
    threading.Thread(target=feeder, args=(asyncio.get_running_loop(), q), name="feeder", daemon=True).start()
    i = 0
    while True:
        q.get()
        i += 1
        kit.log(i, "keras")
        await asyncio.sleep(0.02)

kit.role("main")
asyncio.run(train())
