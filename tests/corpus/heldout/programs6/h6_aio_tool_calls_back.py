"""An asyncio service runs a converter by subprocess.run in a handler; the converter asks the same service for its settings."""
import asyncio
import subprocess
import sys

import kit6


async def attend(reader, writer):
    while True:
        line = (await reader.readline()).decode().split()
        if not line:
            return
        if line[0] == "convert" and int(line[1]) >= 12:
            p = kit6.start([sys.executable, __file__, "tool", str(PORT)], "converter", stdout=subprocess.PIPE)
            p.communicate()
        await asyncio.sleep(0.2)
        print("converted", *line[1:], flush=True)
        writer.write(b"done\n")


def ask(port, lines):
    f = kit6.dial(port).makefile("rw")
    for line in lines:
        print(line, file=f, flush=True)
        f.readline()


async def serve():
    server = await asyncio.start_server(attend, "127.0.0.1", PORT)
    kit6.start([sys.executable, __file__, "client", str(PORT)], "client")
    await server.serve_forever()


if sys.argv[1:]:
    ask(int(sys.argv[2]), ["settings"] if sys.argv[1] == "tool" else ["convert %d" % n for n in range(100)])
else:
    kit6.role("main")
    PORT = kit6.free_port()
    asyncio.run(serve())
