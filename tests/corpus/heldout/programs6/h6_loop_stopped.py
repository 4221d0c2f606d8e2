"""A thread runs an event loop that stops itself after an error of its transport; the next coroutine given to it is never run."""
import asyncio
import threading

import kit6


async def publish(n):
    await asyncio.sleep(0.1)
    if n == 20:
        asyncio.get_running_loop().call_later(0.05, asyncio.get_running_loop().stop)
    return n


def run(loop):
    loop.run_forever()


kit6.role("main")
loop = asyncio.new_event_loop()
threading.Thread(target=run, args=(loop,), daemon=True).start()
for n in range(100):
    kit6.crunch(0.15)
    print("published", asyncio.run_coroutine_threadsafe(publish(n), loop).result(), flush=True)
