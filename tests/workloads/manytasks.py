"""Many tasks of asyncio's, each of which makes a look at it dear: deep coroutines with many variables, each awaits the
next one through gather and wants a lock that another one holds.

    manytasks.py N       prints "ready" once they all stand
"""
import asyncio
import sys

DEPTH = 24
VARIABLES = 60
NAMES = ", ".join(f"v{i}" for i in range(VARIABLES))
VALUES = ", ".join("object()" for _ in range(VARIABLES))
exec(f"""
async def deep(depth, what):
    {NAMES} = {VALUES}
    async with asyncio.Lock():
        if depth:
            await deep(depth - 1, what)
        else:
            await what()
""")


async def main(n):
    tasks = []

    def awaiting(i):
        async def what():
            if i == 0:
                await asyncio.get_running_loop().create_future()
            else:
                await asyncio.gather(tasks[i - 1])
        return what

    for i in range(n):
        tasks.append(asyncio.create_task(deep(DEPTH, awaiting(i))))
    await asyncio.sleep(0.5)
    print("ready", flush=True)
    await tasks[-1]


asyncio.run(main(int(sys.argv[1])))
