"""Rank 3: both threads of the loop's executor wait for coroutines that need a thread of the same executor."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio
import time
from concurrent.futures import ThreadPoolExecutor


def load(path):
    time.sleep(0.1)
    return path


async def cached(path):
    return await asyncio.get_running_loop().run_in_executor(None, load, path)


def collate(loop, k, deep):
    if deep:
        return asyncio.run_coroutine_threadsafe(cached(k), loop).result()
    return load(k)


async def run():
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(2))
    group = kit.Tree()
    for i in range(1000):
        deep = kit.RANK == 3 and i >= 20
        await asyncio.gather(*(loop.run_in_executor(None, collate, loop, k, deep) for k in range(4)))
        await asyncio.sleep(0.2)
        group.barrier()


kit.main(6, lambda: asyncio.run(run()))
