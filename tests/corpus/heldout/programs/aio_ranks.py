"""asyncio streams between ranks; rank 1 awaits something that nobody completes. Arg: which form."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import asyncio

FORM = sys.argv[1]
r = kit.rank()


async def hub(n):
    box, go = asyncio.Queue(), [asyncio.Event()]
    outs = []

    async def handle(rd, wr):
        outs.append(wr)
        while True:
            await box.put(await rd.readline())
    await asyncio.start_server(handle, "127.0.0.1", kit.port())
    for i in range(1000):
        for _ in range(n - 1):
            await box.get()
        for w in outs:
            w.write(b"go\n")
        kit.step(i)


async def produce(q):
    for i in range(15):
        await q.put(i)
    raise KeyError("shard")


async def leaf():
    for _ in range(100):
        try:
            rd, wr = await asyncio.open_connection("127.0.0.1", kit.port())
            break
        except OSError:
            await asyncio.sleep(0.1)
    q = asyncio.Queue(2)
    t = asyncio.create_task(produce(q))
    fut = asyncio.get_running_loop().create_future()
    for i in range(1000):
        if r == 1 and FORM == "q":
            await q.get()
        elif r == 1 and i == 15:
            await fut
        await asyncio.sleep(0.3)
        wr.write(b"x\n")
        await rd.readline()
    t.cancel()


def run():
    if FORM == "q":
        kit.services(2)
    asyncio.run(hub(kit.world()) if r == 0 else leaf())


kit.go(3, run)
