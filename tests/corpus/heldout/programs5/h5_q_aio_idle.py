"""An asyncio service; after some requests the client comes back 72 s later on the same connection."""
import asyncio
import sys
import time

import kit5


async def serve(port):
    done = asyncio.Event()

    async def answer(reader, writer):
        while line := await reader.readline():
            await asyncio.sleep(0.05)
            writer.write(line.upper())
            print("served", line, flush=True)
        done.set()
    await asyncio.start_server(answer, "127.0.0.1", port)
    await done.wait()


def ask(port):
    link = kit5.dial(port).makefile("rw")
    for n in range(10):
        time.sleep(72 if n == 5 else 0.3)
        print("request", n, file=link, flush=True)
        link.readline()


if sys.argv[1:2] == ["ask"]:
    ask(int(sys.argv[2]))
else:
    kit5.role("main")
    port = kit5.free_port()
    kit5.start([sys.executable, __file__, "ask", str(port)], "client")
    asyncio.run(serve(port))
