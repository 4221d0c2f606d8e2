"""An asyncio trainer moves its checkpoint to a thread; that thread waits for a lock kept by a cancelled writer."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import asyncio
import threading
import time

disk = threading.Lock()


def write_file(i):
    disk.acquire()
    if i == 10:
        return          # disk full: returned without release
    disk.release()


async def epoch(group):
    for i in range(1000):
        await asyncio.sleep(0.25)
        if kit.RANK == 1 and i in (5, 10, 15):
            await asyncio.to_thread(write_file, i)
        await asyncio.get_running_loop().run_in_executor(None, group.barrier)
        if kit.RANK == 0:
            kit.step(i)


def run():
    kit.services(1)
    group = kit.Star()
    kit.idle_loaders(2)
    asyncio.run(epoch(group))


kit.main(3, run)
