"""A feature server closes the connection in the middle of an answer; the client is asyncio's."""
import asyncio

from kitd24 import steps


async def serve(reader, writer):
    count = 0
    while await reader.readline():
        count += 1
        writer.write(b"%-16d" % count if count < 6 else b"6")
        if count == 6:
            writer.close()
            return


async def train():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    for k in range(12):
        await asyncio.to_thread(steps, 4, 4 * k)
        writer.write(b"features\n")
        await reader.readexactly(16)


asyncio.run(train())
