"""A sink on uvloop stops reading when 50 records wait, and reads again when exactly 25 are left; records are taken in tens."""
import asyncio
import sys

import uvloop

import kit9


class Sink(asyncio.Protocol):
    waiting = 0

    def connection_made(self, transport):
        self.transport = transport
        self.task = asyncio.get_running_loop().create_task(self.store())

    def data_received(self, data):
        self.waiting += len(data) // 1000
        if self.waiting >= 50:
            self.transport.pause_reading()

    async def store(self):
        while True:
            await asyncio.sleep(0.05)
            self.waiting -= min(self.waiting, 10)
            if self.waiting == 25:
                self.transport.resume_reading()


async def serve(port):
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", port)
    await server.serve_forever()


if sys.argv[1:2] == ["sink"]:
    uvloop.install()
    asyncio.run(serve(int(sys.argv[2])))
kit9.role("main")
port = kit9.free_port()
kit9.start([sys.executable, sys.argv[0], "sink", str(port)], "sink")
link = kit9.dial(port)
for k in range(10000):
    size = 4000 if k < 20 else 400000
    kit9.crunch(0.2 if k < 20 else 0.05)
    link.sendall(b"r" * size)
    print("sent", k, flush=True)
