"""A thread that decodes ends an asyncio future by set_result itself and not by call_soon_threadsafe: the loop sleeps and does not see it. While
there were other things to do it woke anyway."""
import asyncio
import threading
import time

import kit10


def decode(future):
    time.sleep(0.3)
    future.set_result(480)


async def heartbeat():
    for _ in range(20):
        await asyncio.sleep(0.2)


async def main():
    beat = asyncio.create_task(heartbeat())
    for k in range(100):
        future = asyncio.get_running_loop().create_future()
        threading.Thread(target=decode, args=(future,), daemon=True).start()
        print("clip %d: %d frames" % (k, await future), flush=True)
    await beat


kit10.role("main")
asyncio.run(main())
