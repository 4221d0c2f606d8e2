"""aiohttp with four connections to its server. The answers of shards that have not changed are left unread, so their connections never
come back."""
import asyncio
import os
import sys

import aiohttp
from aiohttp import web

import kit9


async def shard(request):
    number = int(request.match_info["number"])
    same = number % 5 == 4
    return web.Response(status=203 if same else 200, body=b"s" * (30000000 if same else 300000))


async def fetch(session, number, kept):
    answer = await session.get("http://127.0.0.1:%s/shard/%d" % (os.environ["SHARDS_PORT"], number))
    if answer.status == 203:
        kept.append(answer)
        return 0
    return len(await answer.read())


async def main():
    kept, nobody_waits = [], aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=4), timeout=nobody_waits) as session:
        for number in range(60):
            size = await fetch(session, number, kept)
            await asyncio.sleep(0.2)
            print("shard %d: %d bytes" % (number, size), flush=True)


if sys.argv[1:] == ["serve"]:
    app = web.Application()
    app.router.add_get("/shard/{number}", shard)
    web.run_app(app, host="127.0.0.1", port=int(os.environ["SHARDS_PORT"]), print=None)
    sys.exit(0)
os.environ["SHARDS_PORT"] = str(kit9.free_port())
kit9.role("main")
kit9.start([sys.executable, sys.argv[0], "serve"], "shards")
kit9.dial(int(os.environ["SHARDS_PORT"])).close()
asyncio.run(main())
