"""A reward server does not answer in five seconds; a task beside it fails too, which nobody looks at."""
import asyncio
import gc

from kitd14 import *


async def silent(reader, writer):
    await asyncio.sleep(60)


async def upload():
    raise ConnectionResetError("metrics upload: connection reset by peer")


async def reward(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"score\n")
    try:
        return await asyncio.wait_for(reader.readline(), 5)
    except asyncio.TimeoutError:
        raise RuntimeError("reward server gave no answer in 5 s") from None


async def main():
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    told(50)
    asyncio.create_task(upload())
    await asyncio.sleep(0.1)
    gc.collect()
    await reward(server.sockets[0].getsockname()[1])


asyncio.run(main())
