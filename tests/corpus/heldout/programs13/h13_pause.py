"""A controller has a websocket to each of three trainers. It bids them to pause, and when all have said that they
do it evaluates and bids them to resume. Trainer 1 has said it and lost its connection then, upon which the
controller has struck it off; it has come back and waits to be resumed, the controller waits for it to pause.
"slow": nothing is lost, the evaluation takes 45 s."""
import asyncio
import sys
import time

import aiohttp
from aiohttp import web

from kit13 import SLOW, main, me, start

N = 3


class Controller:
    def __init__(self):
        self.peers, self.paused, self.steps = {}, set(), 0
        self.all_here, self.all_paused = asyncio.Event(), asyncio.Event()

    async def trainer(self, request):
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        rank = int(request.query["rank"])
        self.peers[rank] = ws
        if len(self.peers) == N:
            self.all_here.set()
        async for message in ws:
            if message.data == "paused":
                self.paused.add(rank)
                if len(self.paused) == N:
                    self.all_paused.set()
        self.paused.discard(rank)
        return ws

    async def control(self):
        await self.all_here.wait()
        for evaluation in range(1, 4):
            await asyncio.sleep(4)
            for ws in self.peers.values():
                await ws.send_str("pause")
            await self.all_paused.wait()
            print(f"controller: evaluation {evaluation} begins", flush=True)
            await asyncio.sleep(45 if SLOW and evaluation == 2 else 1)
            self.all_paused.clear()
            self.paused.clear()
            for ws in self.peers.values():
                await ws.send_str("resume" if evaluation < 3 else "stop")


async def controller():
    c, app = Controller(), web.Application()
    app.router.add_get("/ws", c.trainer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", int(sys.argv[2]))
    await site.start()
    await c.control()
    await asyncio.sleep(2)


async def trainer(rank, port):
    async with aiohttp.ClientSession() as session:
        async def connect():
            for _ in range(200):
                try:
                    return await session.ws_connect(f"http://127.0.0.1:{port}/ws?rank={rank}")
                except aiohttp.ClientError:
                    await asyncio.sleep(0.1)

        ws, word, pauses, step = await connect(), "", 0, 0
        while word != "stop":
            reading = asyncio.ensure_future(ws.receive_str())
            while not reading.done():
                step += 1
                if rank == 0 and step % 10 == 0:
                    print(f"it {step} | {time.strftime('%H:%M:%S')} | loss {3 / step:.4f}", flush=True)
                await asyncio.wait([reading], timeout=0.1)
            pauses += 1
            if pauses == 2 and rank == 2 and not SLOW:
                await asyncio.sleep(3)
            await ws.send_str("paused")
            if pauses == 2 and rank == 1 and not SLOW:
                await ws.close()
                ws = await connect()
            word = await ws.receive_str()
        await ws.close()


def body(rank, world, port):
    asyncio.run(trainer(rank, port))


if __name__ == "__main__":
    if sys.argv[1:2] == ["controller"]:
        me("controller")
        asyncio.run(controller())
    else:
        def with_controller(rank, world, port):
            if rank == 0:
                start([sys.executable, sys.argv[0], "controller", str(port), *sys.argv[1:]], "controller")
            body(rank, world, port)
        main(N, with_controller)
