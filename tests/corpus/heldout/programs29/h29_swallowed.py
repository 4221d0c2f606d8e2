"""An asyncio training with a heartbeat of its own. At the end main cancels the heartbeat and awaits it; its loop has `except
BaseException` around each beat, so that "no error stops it", and no cancel either.

slow: it has `except Exception`; the last metrics are pushed to a slow collector for 66 s."""
import asyncio
import sys

from kit29 import SLOW, STALL, Model, Report, crunch, role


class Heartbeat:
    def __init__(self):
        self.beats = 0

    async def beat(self):
        await asyncio.sleep(2)
        self.beats += 1
        with open("heartbeat", "w") as f:
            f.write("%d\n" % self.beats)

    async def run(self):
        while True:
            try:
                await self.beat()
            except Exception if SLOW else BaseException as error:
                print("heartbeat: %r" % error, file=sys.stderr, flush=True)


async def collector(reader, writer):
    await reader.readline()
    await asyncio.sleep(66)
    writer.write(b"ok\n")
    await writer.drain()
    writer.close()


async def push(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"metrics {}\n")
    answer = await reader.readline()
    writer.close()
    return answer


async def main():
    role("main")
    heartbeat = Heartbeat()
    task = asyncio.create_task(heartbeat.run())
    server = await asyncio.start_server(collector, "127.0.0.1", 0)
    model, report = Model(), Report("logging")
    for step in range(STALL):
        model.update(model.gradient())
        report(step, model.loss())
        await asyncio.sleep(0)
    crunch(0.1)
    if SLOW:
        await push(server.sockets[0].getsockname()[1])
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    server.close()
    print("done after %d beats" % heartbeat.beats, flush=True)


asyncio.run(main())
