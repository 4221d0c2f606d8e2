"""An asynchronous evaluator: the answer's future is kept by its id; ids are reused too early."""
import asyncio

import kit4


class Evaluator:
    def __init__(self):
        self.waiting, self.jobs = {}, asyncio.Queue()

    async def ask(self, k):
        future = asyncio.get_running_loop().create_future()
        self.waiting[k % 8] = future
        await self.jobs.put(k)
        return await future

    async def run(self):
        while True:
            k = await self.jobs.get()
            await asyncio.sleep(0.15)
            future = self.waiting.pop(k % 8, None)
            if future:
                future.set_result(k * k)


async def main():
    e = Evaluator()
    runner = asyncio.create_task(e.run())
    for i in range(100):
        wide = 4 if i < 8 else 12
        got = await asyncio.gather(*(e.ask(i * 12 + k) for k in range(wide)))
        print("generation %d best %d" % (i, max(got)), flush=True)
    runner.cancel()

kit4.role("main")
asyncio.run(main())
