"""A program of asyncio fills a queue with requests for labels, which three tasks do, and waits until all are done. A task
that meets an error goes on with the next request, without telling the queue that this one is done."""
import asyncio

from kit21 import role, told


async def label(k):
    await asyncio.sleep(0.25)
    if k in (37, 61):
        raise ValueError("sample %d has no text" % k)
    return k % 10


async def labeler(requests, done):
    while True:
        k = await requests.get()
        try:
            await label(k)
        except ValueError:
            continue
        done.append(k)
        told(len(done))
        requests.task_done()


async def main():
    requests, done = asyncio.Queue(), []
    for k in range(100):
        requests.put_nowait(k)
    tasks = [asyncio.create_task(labeler(requests, done)) for _ in range(3)]
    await requests.join()
    for task in tasks:
        task.cancel()
    print("labelled", len(done), flush=True)


role("main")
asyncio.run(main())
