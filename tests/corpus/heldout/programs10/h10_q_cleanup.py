"""A service of aiohttp shuts down. A client still has a long poll open; cleanup gives it its minute."""
import asyncio

import aiohttp
from aiohttp import web

import kit10


async def poll(request):
    await asyncio.sleep(58 if request.query["k"] == "last" else 0.1)
    return web.Response(text="weights 12")


async def client(port):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(100)) as session:
        for k in [*map(str, range(30)), "last"]:
            async with session.get("http://127.0.0.1:%d/?k=%s" % (port, k)) as answer:
                print(k, await answer.text(), flush=True)


async def main():
    app, port = web.Application(), kit10.free_port()
    app.router.add_get("/", poll)
    runner = web.AppRunner(app, shutdown_timeout=70)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    task = asyncio.create_task(client(port))
    await asyncio.sleep(6)
    print("shutting down", flush=True)
    await runner.cleanup()
    await task


kit10.role("main")
asyncio.run(main())
