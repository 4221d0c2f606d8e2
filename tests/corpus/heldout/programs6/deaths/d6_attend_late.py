from kitd6 import *
import asyncio
async def stream(n):
    await asyncio.sleep(0.3 * n)
    if n == 7:
        raise PermissionError(13, "Permission denied", "/data/licensed/part-0007")
async def main():
    tasks = [asyncio.create_task(stream(n)) for n in range(12)]
    for n, t in enumerate(tasks):
        await t
        print("part", n, flush=True)
asyncio.run(main())
