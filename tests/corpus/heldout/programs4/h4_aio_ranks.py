"""Ranks in asyncio: a star of streams; rank 1 awaits an asyncio.Condition of its loader task, which was cancelled by a time limit."""
import asyncio

import kit4


class Loader:
    def __init__(self, rank):
        self.cond, self.rows, self.rank = asyncio.Condition(), [], rank

    async def run(self):
        for k in range(100000):
            await asyncio.sleep(0.1)
            async with self.cond:
                self.rows.append(k)
                self.cond.notify()
            if self.rank == 1 and k == 20:
                await asyncio.sleep(1000)

    async def next(self):
        async with self.cond:
            await self.cond.wait_for(lambda: self.rows)
            return self.rows.pop()


async def limited(loader):
    try:
        await asyncio.wait_for(loader.run(), 5 if loader.rank == 1 else None)
    except asyncio.TimeoutError:
        pass


async def work(rank, port):
    loader = Loader(rank)
    task = asyncio.create_task(limited(loader))
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.05)
    while not task.cancelled():
        writer.write(b"%d\n" % await loader.next())
        await reader.readline()
        await asyncio.sleep(0.1)


async def collect(world, port):
    links, ready = [], asyncio.Event()

    async def come(reader, writer):
        links.append((reader, writer))
        if len(links) == world - 1:
            ready.set()
    await asyncio.start_server(come, "127.0.0.1", port)
    await ready.wait()
    for step in range(100000):
        total = sum([int(await r.readline()) for r, _ in links])
        for _, w in links:
            w.write(b"%d\n" % total)
        print("step %d %d" % (step, total), flush=True)


kit4.main(4, lambda rank, world, port: asyncio.run(work(rank, port) if rank else collect(world, port)), "arg")
