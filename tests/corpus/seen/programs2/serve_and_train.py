"""A scoring server in the job waits for requests that never come, while the trainer beside it makes slow steps."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio
import signal
import time


async def scores():
    async def answer(r, w):
        w.write(await r.readline())
        await w.drain()
        w.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    await server.serve_forever()


if __name__ == "__main__":
    kit.role("main")
    pid = kit.fork_child("scores", lambda: asyncio.run(scores()))
    for i in range(8):
        time.sleep(0.5)
        for _ in range(80):
            sum(k * k for k in range(8000))
            time.sleep(kit.secs(0.1))
        kit.log(i, "json")
    os.kill(pid, signal.SIGTERM)
    os.wait()
