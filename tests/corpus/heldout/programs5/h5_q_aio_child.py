"""An asyncio program awaits a tool that computes for 68 s, and two timers that are longer."""
import asyncio
import sys

import kit5


async def main():
    kit5.role("main")
    reminders = [asyncio.create_task(asyncio.sleep(500)) for _ in range(2)]
    for n, seconds in enumerate((1, 68, 1)):
        p = await asyncio.create_subprocess_exec(sys.executable, __file__, str(seconds), stdout=asyncio.subprocess.PIPE)
        text, _ = await p.communicate()
        print("tool", n, text, flush=True)
    for r in reminders:
        r.cancel()


if sys.argv[1:]:
    kit5.with_parent()
    kit5.role("tool")
    kit5.compute(int(sys.argv[1]))
    print("done")
else:
    asyncio.run(main())
