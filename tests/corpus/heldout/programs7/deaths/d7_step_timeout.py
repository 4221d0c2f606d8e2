from kitd7 import *
import asyncio


async def evaluate():
    await asyncio.sleep(60)


async def main():
    try:
        await asyncio.wait_for(evaluate(), 2)
    except asyncio.TimeoutError as error:
        raise RuntimeError("evaluation took longer than its 2 s") from error

train(4)
asyncio.run(main())
