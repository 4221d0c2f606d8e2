"""Four workers push to a server of parameters (asyncio), which makes its step when all have pushed; its optimizer has more to do now."""
import asyncio
import os
import sys
import time

import kits8


async def serve(port, n):
    waiting, laps = [], kits8.Laps(n)

    async def attend(reader, writer):
        while True:
            line = await reader.readline()
            if not line:
                return
            waiting.append((writer, float(line)))
            if len(waiting) == n:
                laps.begin, laps.delay = time.monotonic(), laps.delayed()
                step(waiting)
                laps.mine()
                laps.done()

    server = await asyncio.start_server(attend, "127.0.0.1", port)
    await server.serve_forever()


def step(waiting):
    kits8.work(0.55 if kits8.slow() else 0.1)
    total = sum(x for _, x in waiting)
    for writer, _ in waiting:
        writer.write(b"%g\n" % total)
    waiting.clear()


class Server:
    def __init__(self):
        self.link = kits8.dial(int(os.environ["PS_PORT"])).makefile("rw")

    def reduce(self, x):
        self.link.write("%g\n" % x)
        self.link.flush()
        return float(self.link.readline())


def train(rank, n, port):
    def before(step):
        kits8.disk(0.2)
        kits8.work(0.03)
    kits8.loop(rank, Server(), before, lambda s: "INFO | train | batch %d: %.4f" % (s, 3 / (1 + s / 40)))


if sys.argv[1:2] == ["serve"]:
    asyncio.run(serve(int(sys.argv[2]), 4))
if "PS_PORT" not in os.environ:
    os.environ["PS_PORT"] = str(kits8.free_port())
    kits8.start([sys.executable, __file__, "serve", os.environ["PS_PORT"]], "server")
kits8.ranks(4, train, "NODE_NO")
