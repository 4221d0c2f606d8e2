"""The work is done; a thread of to_thread() still waits for a line of a queue, and the loop waits for its threads."""
import asyncio
import queue

import kit8


async def main():
    metrics = queue.Queue()
    writer = asyncio.create_task(asyncio.to_thread(write, metrics))
    for step in range(30):
        await asyncio.sleep(0.2)
        metrics.put("step %d reward %.2f" % (step, step / 30))
    writer.cancel()
    print("rollouts finished", flush=True)


def write(metrics):
    while True:
        print(metrics.get(), flush=True)


kit8.role("main")
asyncio.run(main())
