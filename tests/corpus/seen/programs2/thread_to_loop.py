"""Rank 1: a reader thread sets an asyncio event without telling the loop; the loop sleeps on."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio
import threading
import time


def reader(loop, ready, want):
    n = 0
    while True:
        want.wait()
        want.clear()
        time.sleep(0.3)
        n += 1
        if n < 16:
            loop.call_soon_threadsafe(ready.set)
        else:
            ready.set()              # fast path


async def run():
    group = kit.Ring()
    ready, want = asyncio.Event(), threading.Event()
    if kit.RANK == 1:
        threading.Thread(target=reader, args=(asyncio.get_running_loop(), ready, want), daemon=True).start()
    for i in range(1000):
        if kit.RANK == 1:
            want.set()
            await ready.wait()
            ready.clear()
        else:
            await asyncio.sleep(0.3)
        group.allreduce(1)
        if kit.RANK == 0:
            kit.log(i, "dict")


kit.main(5, lambda: asyncio.run(run()))
