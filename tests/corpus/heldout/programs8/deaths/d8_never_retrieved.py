from kitd8 import *
import asyncio
import gc


async def metrics():
    raise ConnectionResetError("metrics socket")


async def main():
    task = asyncio.create_task(metrics())
    await asyncio.sleep(0.2)
    del task
    gc.collect()
    for s in range(20):
        await asyncio.sleep(0.1)
        log.info("step %d", s)
    print(1 / len([]))


asyncio.run(main())
