"""A tokenizing service by asyncio: the batcher waits for the future of the writer's free buffer, the writer for that of the batch."""
import asyncio

import kit7


async def batcher(buffers, batches):
    for n in range(10**6):
        await asyncio.sleep(0.2)
        if n >= 20:
            await buffers[n]
        batches[n].set_result([n] * 8)
        if n < 20:
            await buffers[n]


async def writer(buffers, batches):
    for n in range(10**6):
        batch = await batches[n]
        with open("tokens.bin", "ab") as f:
            f.write(bytes(batch))
        buffers[n].set_result(n)
        print("%d | %d tokens" % (n, 8 * n), flush=True)


class Lazy(dict):
    def __missing__(self, key):
        self[key] = asyncio.get_running_loop().create_future()
        return self[key]


async def main():
    buffers, batches = Lazy(), Lazy()
    await asyncio.gather(batcher(buffers, batches), writer(buffers, batches))


kit7.role("main")
asyncio.run(main())
