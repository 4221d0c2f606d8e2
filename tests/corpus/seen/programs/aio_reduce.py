"""All-reduce written with asyncio streams; one rank awaits a future that no code completes."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import asyncio
import time


class Group:
    async def start(self):
        port = int(os.environ["MASTER_PORT"])
        if kit.RANK == 0:
            self.peers, self.all_in = [], asyncio.Event()
            self.srv = await asyncio.start_server(self.joined, "127.0.0.1", port)
            await self.all_in.wait()
        else:
            while True:
                try:
                    self.r, self.w = await asyncio.open_connection("127.0.0.1", port)
                    break
                except OSError:
                    await asyncio.sleep(0.05)

    async def joined(self, r, w):
        self.peers.append((r, w))
        if len(self.peers) == kit.WORLD - 1:
            self.all_in.set()

    async def sum(self, x):
        if kit.RANK == 0:
            got = await asyncio.gather(*(r.readline() for r, _ in self.peers))
            x += sum(map(float, got))
            for _, w in self.peers:
                w.write(b"%f\n" % x)
                await w.drain()
            return x
        self.w.write(b"%f\n" % x)
        await self.w.drain()
        return float(await self.r.readline())


async def prefetch(i):
    done = asyncio.get_running_loop().create_future()
    if kit.RANK != 2 or i < 15:
        asyncio.get_running_loop().call_later(0.25, done.set_result, i)
    return await done


async def run():
    g = Group()
    await g.start()
    for i in range(1000):
        x = await asyncio.create_task(prefetch(i))
        t = await g.sum(x)
        if kit.RANK == 0:
            kit.step(i, 1 / (1 + t))


kit.main(4, lambda: asyncio.run(run()))
