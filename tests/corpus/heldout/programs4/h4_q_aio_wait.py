"""asyncio: requests with time limits of twenty-five seconds to a service that does not answer, three tries, then without it."""
import asyncio

import kit4


async def silent(reader, writer):
    await asyncio.sleep(1000)


async def main():
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for attempt in range(3):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await asyncio.wait_for(reader.readline(), 25)
        except asyncio.TimeoutError:
            print("attempt %d: no answer" % attempt, flush=True)
    print("going on without metadata")

kit4.role("main")
asyncio.run(main())
