"""Uploads of samples by asyncio: three workers take from a queue, and an error of one file is logged and passed over with
`continue`, without task_done(). At the end of the epoch queue.join() waits for it.

slow: there is no such error; one upload takes 67 s."""
import asyncio
import sys

from kit27 import SLOW, STALL, STEPS, role, tell


async def upload(queue):
    while True:
        step = await queue.get()
        try:
            if step == STALL and not SLOW:
                raise OSError("429 Too Many Requests")
            await asyncio.sleep(67 if step == STALL else 0.3)
        except OSError as error:
            print("warning: sample %d: %s" % (step, error), file=sys.stderr, flush=True)
            continue
        queue.task_done()


async def run():
    queue = asyncio.Queue(3)
    workers = [asyncio.create_task(upload(queue)) for _ in range(3)]
    for step in range(STEPS):
        await asyncio.sleep(0.2)
        await queue.put(step)
        tell(step, "sample {step} rendered")
        if step % 30 == 29:
            await queue.join()
            tell(0, "epoch uploaded")
    for w in workers:
        w.cancel()


role("main")
asyncio.run(run())
