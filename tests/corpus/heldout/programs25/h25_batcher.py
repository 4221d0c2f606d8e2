"""An evaluation asks a server that answers by eights, as its model is compiled for eight. The last questions are five;
the client's time limit of 5 s is caught, "slow server", and it waits again.

slow: there are always eight; the batch at step 100 takes the server 62 s."""
import asyncio
import sys
import time

from kit25 import OWN, SLOW, STALL, STEPS, Log, free_port, role, start


async def serve(port):
    waiting, step = [], 0

    async def answer(reader, writer):
        nonlocal step
        while line := await reader.readline():
            waiting.append((line, writer))
            if len(waiting) == 8:
                time.sleep(62 if SLOW and step == STALL else 0.2)
                step += 1
                for asked, to in waiting:
                    to.write(b"0.5 " + asked)
                waiting.clear()

    async with await asyncio.start_server(answer, "127.0.0.1", port) as server:
        await server.serve_forever()


async def ask(reader, writer, questions):
    for q in questions:
        writer.write(b"%d\n" % q)
    right = 0
    while right < len(questions):
        try:
            right += bool(await asyncio.wait_for(reader.readline(), 5))
        except asyncio.TimeoutError:
            pass


async def evaluate(port):
    for _ in range(100):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.1)
    log = Log("bar", "eval")
    for step in range(STEPS):
        last = step == STALL and not SLOW
        await ask(reader, writer, range(step * 8, step * 8 + (5 if last else 8)))
        log(step, 0.5)


if "serve" in sys.argv:
    asyncio.run(serve(int(sys.argv[2])))
else:
    role("main")
    door = str(free_port())
    start(OWN + ["serve", door] + sys.argv[1:], "server")
    asyncio.run(evaluate(int(door)))
