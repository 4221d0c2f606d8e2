import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import asyncio, zipfile
async def load(name):
    await asyncio.sleep(0.2)
    if "7" in name:
        raise zipfile.BadZipFile(f"shard-000{name}: truncated central directory")
    await asyncio.sleep(5)
async def main():
    async with asyncio.TaskGroup() as g:
        for n in "1357":
            g.create_task(load(n))
steps(5)
asyncio.run(main())
