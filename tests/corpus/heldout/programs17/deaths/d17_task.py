"""A task of asyncio fails unseen, main waits for its result in vain and gives up."""
import asyncio

from kitd17 import *


async def score(box):
    await asyncio.sleep(1)
    answer = {"text": "yes", "tokens": 3}
    box.put_nowait(answer["logits"])


async def main():
    box = asyncio.Queue()
    task = asyncio.create_task(score(box))
    told(5)
    result = await asyncio.wait_for(box.get(), 4)
    print(result, task)


asyncio.run(main())
