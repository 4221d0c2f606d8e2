"""A thread of a tokenizer appends to an asyncio queue directly; the sleeping loop hears of nothing."""
import asyncio
import threading
import time

import kit8


def tokenize(queue, loop):
    for n in range(10 ** 6):
        time.sleep(0.2)
        if n < 25:
            loop.call_soon_threadsafe(queue.put_nowait, [n] * 8)
        else:
            queue.put_nowait([n] * 8)
            return


async def main():
    queue = asyncio.Queue()
    threading.Thread(target=tokenize, args=(queue, asyncio.get_running_loop())).start()
    total = 0
    while True:
        total += len(await queue.get())
        print("tokens so far: %d" % total, flush=True)


kit8.role("main")
asyncio.run(main())
