"""Shards are fetched by a group of tasks; one has another checksum. What is raised is a group of errors."""
import asyncio

from kitd11 import *


class ChecksumError(Exception):
    pass


async def fetch(k):
    await asyncio.sleep(0.3 * k)
    if k == 7:
        raise ChecksumError("shard-00007.tar: sha256 differs from the manifest")
    print("fetched shard-%05d.tar" % k, flush=True)


async def main():
    async with asyncio.TaskGroup() as group:
        for k in range(12):
            group.create_task(fetch(k))


role("main")
asyncio.run(main())
