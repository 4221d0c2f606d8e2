import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import asyncio
async def push():
    raise TimeoutError("metrics endpoint did not answer")
async def main():
    t = asyncio.create_task(push())
    for i in range(20):
        steps(1, i); await asyncio.sleep(0)
    del t
    import gc; gc.collect()
    print("finished", flush=True)
asyncio.run(main())
