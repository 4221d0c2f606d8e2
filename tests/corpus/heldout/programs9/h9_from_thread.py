"""A thread hands its result to a future of the loop without the thread-safe call, so that the loop is not woken."""
import asyncio
import threading
import time

import kit9


def embed(batch, future, loop):
    time.sleep(0.2)
    if batch < 9:
        loop.call_soon_threadsafe(future.set_result, batch * 2)
    else:
        future.set_result(batch * 2)  # the path for cached ones


async def main():
    loop = asyncio.get_running_loop()
    for batch in range(30):
        future = loop.create_future()
        threading.Thread(target=embed, args=(batch, future, loop), name="embedder").start()
        print("batch", batch, "embedded:", await future, flush=True)


kit9.role("main")
asyncio.run(main())
