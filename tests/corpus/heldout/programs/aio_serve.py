"""An asyncio server, a client every 20 s."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import asyncio


async def handle(r, w):
    while line := await r.readline():
        w.write(line.upper())
        await w.drain()
    w.close()


async def serve():
    s = await asyncio.start_server(handle, "127.0.0.1", kit.port(1))
    async with s:
        await asyncio.sleep(66)


async def ask(pause, n):
    for i in range(n):
        r, w = await asyncio.open_connection("127.0.0.1", kit.port(1))
        w.write(b"infer\n")
        await r.readline()
        w.close()
        print("request", i, flush=True)
        await asyncio.sleep(pause)


async def client():
    await asyncio.sleep(1)
    await ask(0.4, 10)
    await ask(19, 3)

kit.go(2, lambda: asyncio.run(serve() if kit.rank() == 0 else client()))
