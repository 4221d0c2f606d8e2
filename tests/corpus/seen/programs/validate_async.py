"""An asyncio job waits 65 s for a validation in a thread, its heartbeat task goes on silently."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import asyncio
import hashlib
import time


def validate(n):
    end = time.time() + n
    h = hashlib.sha256()
    while time.time() < end:
        h.update(os.urandom(65536))
        time.sleep(0.02)
    return h.hexdigest()


async def beat():
    while True:
        await asyncio.sleep(1)


async def run():
    kit.role("main")
    t = asyncio.create_task(beat())
    for i in range(16):
        await asyncio.sleep(0.25)
        kit.step(i)
    print("validation", (await asyncio.to_thread(validate, kit.secs(65)))[:8], flush=True)
    t.cancel()


asyncio.run(run())
