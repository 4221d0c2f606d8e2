"""An asyncio service that embeds and trains. Blocking calls go to the loop's executor with three threads. Consumers, one a client, wait
there for their queue; with the third client no thread is free, and the producer's put, also by the executor, is never run.

slow: two clients only; an embedding takes 72 s."""
import asyncio
import concurrent.futures
import queue

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, crunch, role


class Service:
    def __init__(self):
        self.model, self.report = Model(), Report("json")
        self.clients = []

    def embed(self, step):
        crunch(0.25)
        if SLOW and step == STALL:
            busy(72)
        return 0.01 * step

    async def consumer(self, inbox):
        loop = asyncio.get_running_loop()
        while True:
            vector = await loop.run_in_executor(None, inbox.get)
            if vector is None:
                return
            self.model.update(self.model.loss() * 1e-3 + vector * 1e-6)

    def join(self):
        inbox = queue.Queue()
        self.clients.append((inbox, asyncio.create_task(self.consumer(inbox))))

    async def run(self):
        loop = asyncio.get_running_loop()
        loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(3, "blocking"))
        self.join()
        self.join()
        for step in range(STEPS):
            if step == STALL and not SLOW:
                self.join()
                await asyncio.sleep(0.1)
            vector = await loop.run_in_executor(None, self.embed, step)
            for inbox, _ in self.clients:
                inbox.put(vector)
            self.report(step, self.model.loss())
        for inbox, task in self.clients:
            inbox.put(None)
            await task


role("main")
asyncio.run(Service().run())
