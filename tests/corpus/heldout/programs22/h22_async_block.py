"""Two ranks over TCP that generate answers with asyncio. A tool that a model may call has a function for those who have no loop: it
gives the coroutine to the loop of the program and waits for the result. Rank 1 calls it from within the loop's own
thread, which so waits for itself.

slow: the tool is awaited, and the answer takes 48 s."""
import asyncio

from kit22 import SLOW, STEPS, Mesh, Model, main


async def look_up(word):
    await asyncio.sleep(48 if SLOW and word == "rare" else 0.05)
    return len(word)


class Tool:
    def __init__(self, loop):
        self.loop = loop

    def call_sync(self, word):
        return asyncio.run_coroutine_threadsafe(look_up(word), self.loop).result()


async def answer(tool, word):
    if word == "rare" and not SLOW:
        return tool.call_sync(word)
    return await look_up(word)


async def rollout(tool, words):
    return await asyncio.gather(*[answer(tool, w) for w in words])


async def train(rank, world, port):
    mesh, model, tool = Mesh(rank, world, port), Model(rank), Tool(asyncio.get_running_loop())
    for step in range(STEPS):
        await rollout(tool, ["often", "rare" if rank == 1 and step == 28 else "seldom"])
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)


main(2, lambda *place: asyncio.run(train(*place)))
