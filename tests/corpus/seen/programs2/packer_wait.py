"""Rank 2 starts a packer with its output on a pipe and awaits its end; nobody reads the pipe."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio

CODE = "import sys,time\nfor i in range(9000):\n    sys.stdout.write('packed sample %d ' % i + 'x' * 80 + '\\n')\n    sys.stdout.flush()\n"


async def pack():
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", CODE, stdout=asyncio.subprocess.PIPE)
    kit.role("packer2", p.pid)
    await p.wait()


async def run():
    group = kit.Star()
    for i in range(1000):
        await asyncio.sleep(0.5)
        if kit.RANK == 2 and i == 13:
            await pack()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "jax")


kit.main(4, lambda: asyncio.run(run()))
