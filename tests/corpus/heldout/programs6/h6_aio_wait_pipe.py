"""asyncio waits for the end of a child whose output is a pipe that nobody reads; the child says more than the pipe holds."""
import asyncio
import sys

import kit6

CHILD = "import sys\nfor n in range({0}):\n    sys.stdout.write('frame %06d ok ' % n + 'x' * 100 + chr(10))\n    sys.stdout.flush()\n"


async def main():
    kit6.role("main")
    for clip in range(100):
        # the stream keeps up to two times 64 KB, the pipe 64 KB
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD.format(100 if clip < 12 else 5000), stdout=asyncio.subprocess.PIPE,
                                                     preexec_fn=kit6.with_parent)
        if clip >= 12:
            kit6.role("child", child.pid)
        await asyncio.sleep(0.2)
        await child.wait()
        print("clip", clip, flush=True)


asyncio.run(main())
