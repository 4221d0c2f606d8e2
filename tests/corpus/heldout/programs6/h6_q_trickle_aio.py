"""An asyncio client downloads a shard from a server that gives 90 bytes each 4 s."""
import asyncio
import sys

import kit6


async def give(reader, writer):
    for n in range(18):
        writer.write(b"x" * 90)
        await writer.drain()
        await asyncio.sleep(4)
    writer.close()


async def serve(port):
    await (await asyncio.start_server(give, "127.0.0.1", port)).serve_forever()


async def main():
    kit6.role("main")
    port = kit6.free_port()
    kit6.start([sys.executable, __file__, str(port)], "origin")
    for n in range(20):
        await asyncio.sleep(0.2)
        print("prepared", n, flush=True)
    reader, _ = await asyncio.open_connection("127.0.0.1", port)
    print("shard of", len(await reader.read(-1)), "bytes", flush=True)


asyncio.run(serve(int(sys.argv[1])) if sys.argv[1:] else main())
