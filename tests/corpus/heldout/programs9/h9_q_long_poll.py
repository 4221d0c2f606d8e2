"""aiohttp: a request for the next job is answered when there is one, here after 61 s."""
import asyncio
import os
import sys

import aiohttp
from aiohttp import web

import kit9


async def job(request):
    number = int(request.match_info["number"])
    await asyncio.sleep(61 if number == 15 else 0.1)
    return web.json_response({"job": number})


async def main():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        for number in range(30):
            async with session.get("http://127.0.0.1:%s/next/%d" % (os.environ["JOBS_PORT"], number)) as answer:
                got = await answer.json()
            await asyncio.sleep(0.2)
            print("did job", got["job"], flush=True)


if sys.argv[1:] == ["serve"]:
    app = web.Application()
    app.router.add_get("/next/{number}", job)
    web.run_app(app, host="127.0.0.1", port=int(os.environ["JOBS_PORT"]), print=None)
    sys.exit(0)
os.environ["JOBS_PORT"] = str(kit9.free_port())
kit9.role("main")
kit9.start([sys.executable, sys.argv[0], "serve"], "jobs")
kit9.dial(int(os.environ["JOBS_PORT"])).close()
asyncio.run(main())
