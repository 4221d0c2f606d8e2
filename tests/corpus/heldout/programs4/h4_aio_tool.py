"""await process.wait() with a pipe that nobody reads."""
import asyncio
import sys

import kit4


async def render(k):
    code = "import sys\nfor i in range(%d): print('frame', i, 'x' * 60)" % (20 if k < 9 else 4000)
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, preexec_fn=kit4.with_parent)
    kit4.role("tool", p.pid)
    await p.wait()
    return len(await p.stdout.read())


async def main():
    for k in range(100):
        await asyncio.sleep(0.2)
        print("clip %d: %d bytes" % (k, await render(k)), flush=True)

kit4.role("main")
asyncio.run(main())
