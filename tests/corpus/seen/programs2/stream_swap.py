"""Ranks 1 and 3 swap activations over asyncio streams; the whole state is written by both before either reads."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio
import struct


async def swap(link, size):
    r, w = link
    w.write(struct.pack("!I", size) + bytes(size))
    await w.drain()
    n = struct.unpack("!I", await r.readexactly(4))[0]
    await r.readexactly(n)


async def run():
    group = kit.Star()
    link = None
    if kit.RANK == 1:
        got = asyncio.get_running_loop().create_future()
        await asyncio.start_unix_server(lambda r, w: got.set_result((r, w)), kit.tmp("pair"), limit=1 << 16)
        link = await got
    elif kit.RANK == 3:
        while link is None:
            try:
                link = await asyncio.open_unix_connection(kit.tmp("pair"), limit=1 << 16)
            except OSError:
                await asyncio.sleep(0.1)
    for i in range(1000):
        await asyncio.sleep(0.4)
        if link:
            await swap(link, 32 << 20 if i == 17 else 4096)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "iter")


kit.main(4, lambda: asyncio.run(run()))
