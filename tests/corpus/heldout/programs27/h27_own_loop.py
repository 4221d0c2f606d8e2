"""A trainer in asyncio. A callback of its tracker asks for a value of the loop by run_coroutine_threadsafe(...).result(): it
was called by a thread before, since a refactoring it is called in the loop's own thread."""
import asyncio
import functools

from kit27 import STALL, STEPS, crunch, role, tell


async def best():
    await asyncio.sleep(0.01)
    return 0.7


def on_evaluation(loop, step):
    return asyncio.run_coroutine_threadsafe(best(), loop).result()


async def train():
    loop = asyncio.get_running_loop()
    for step in range(STEPS):
        await loop.run_in_executor(None, crunch, 0.2)
        tell(step, "[{step}] loss={loss:.4f}")
        if step % 30 == 0 and step < STALL:
            await loop.run_in_executor(None, functools.partial(on_evaluation, loop, step))
        elif step == STALL:
            on_evaluation(loop, step)


role("main")
asyncio.run(train())
