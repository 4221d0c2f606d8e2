"""Three downloads in a TaskGroup: one may not read its token."""
import asyncio

from kitd16 import *


async def fetch(number):
    await asyncio.sleep(0.2 * number)
    if number == 2:
        raise PermissionError(13, "Permission denied", "/run/secrets/api_token")
    await asyncio.sleep(2)


async def epoch():
    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(fetch(number))


told(25)
asyncio.run(epoch())
