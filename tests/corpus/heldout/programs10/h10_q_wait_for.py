"""A judge of answers does not answer one of them within a minute; asyncio gives it up and the rest goes on."""
import asyncio

import kit10


async def serve(reader, writer):
    while line := await reader.readline():
        if b"17" in line:
            await asyncio.sleep(80)
        writer.write(b"0.5\n")


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for k in range(40):
        await asyncio.sleep(0.15)
        writer.write(b"answer %d\n" % k)
        try:
            await asyncio.wait_for(reader.readline(), 60)
        except asyncio.TimeoutError:
            print("answer %d: no judgement" % k, flush=True)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        print("answer", k, flush=True)


kit10.role("main")
asyncio.run(asyncio.wait_for(main(), 300))
