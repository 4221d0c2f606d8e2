"""Two ranks. Rank 1 fetches embeddings by asyncio; a lock of `threading` is held by a task while it awaits an answer. A
second task wants the lock, and stops the loop that the first one needs.

slow: tasks do not await with the lock; a thread has it, and builds an index for 52 s."""
import asyncio
import threading

from kit24 import SLOW, STEPS, Descent, Mesh, busy, main, told

TABLE_LOCK, TABLE = threading.Lock(), {}


async def embed(key):
    if SLOW:
        await asyncio.sleep(0.05)
        with TABLE_LOCK:
            TABLE[key] = key * 0.5
        return
    with TABLE_LOCK:
        if key not in TABLE:
            await asyncio.sleep(0.05)
            TABLE[key] = key * 0.5


async def embed_all(keys):
    await asyncio.gather(*[embed(key) for key in keys])


def build_index():
    with TABLE_LOCK:
        busy(52)


def body(rank, world, port):
    mesh, descent = Mesh(rank, world), Descent(rank)
    for step in range(STEPS):
        if rank == 1 and step % 4 == 0:
            if SLOW and step == 36:
                threading.Thread(target=build_index, name="index").start()
            asyncio.run(embed_all([step] if step < 36 else [step, step + 1]))
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


main(2, body)
