"""Rank 0 serves batches with asyncio; the task that fills its queue has failed and nobody looked at it."""
import asyncio
import pickle

import kit4


async def produce(q):
    rows = list(range(40))
    i = 0
    while True:
        await q.put([rows[i], rows[i + 1]])
        i += 1
        await asyncio.sleep(0.05)


async def handle(q, reader, writer):
    while await reader.readline():
        batch = pickle.dumps(await q.get())
        writer.write(len(batch).to_bytes(4, "big") + batch)
        await writer.drain()


async def serve(port):
    q = asyncio.Queue(4)
    global producer
    producer = asyncio.create_task(produce(q))
    server = await asyncio.start_server(lambda r, w: handle(q, r, w), "127.0.0.1", port)
    async with server:
        await server.serve_forever()


def train(rank, world, port):
    if rank == 0:
        asyncio.run(serve(port))
    s = kit4.dial(port)
    for i in range(1000):
        s.sendall(b"next\n")
        n = int.from_bytes(kit4.read(s, 4), "big")
        batch = pickle.loads(kit4.read(s, n))
        kit4.crunch(0.25)
        print("rank %d batch %d: %s" % (rank, i, batch), flush=True)


kit4.main(3, train)
