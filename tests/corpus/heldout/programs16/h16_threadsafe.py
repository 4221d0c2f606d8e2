"""A training loop in asyncio, with a wrapper for those who are not: it gives a coroutine to the loop and waits for the
result. A callback of the checkpoint uses the wrapper, and runs in the loop's own thread."""
import asyncio

from kit16 import crunch, role, told


class Uploader:
    def __init__(self, loop):
        self.loop, self.sent = loop, []

    async def send(self, name):
        await asyncio.sleep(0.05)
        self.sent.append(name)

    def send_and_wait(self, name):
        return asyncio.run_coroutine_threadsafe(self.send(name), self.loop).result()


async def train():
    role("main")
    uploader = Uploader(asyncio.get_running_loop())
    for step in range(300):
        await asyncio.to_thread(crunch, 0.18)
        told(step)
        if step % 15 == 14:
            name = "step-%d.ckpt" % step
            if step < 40:
                await uploader.send(name)
            else:
                uploader.send_and_wait(name)


asyncio.run(train())
