"""Three tasks take prompts from a queue of asyncio, ask a model server and tell the queue that a prompt is
done. For one that is too long they log a warning and go on without telling: join() waits for it."""
import asyncio
import logging

from kit14 import role

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


async def server(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(0.25)
        writer.write(b"400\n" if len(line) > 400 else b"200 %d\n" % (len(line) % 7))
        await writer.drain()


async def worker(prompts, port, scores):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        prompt = await prompts.get()
        writer.write(prompt.encode() + b"\n")
        await writer.drain()
        answer = (await reader.readline()).split()
        if answer[0] != b"200":
            logging.warning("prompt of %d characters was refused, skipped", len(prompt))
            continue
        scores.append(int(answer[1]))
        if len(scores) % 10 == 0:
            logging.info("scored %d, mean reward %.3f", len(scores), sum(scores) / len(scores))
        prompts.task_done()


async def main():
    role("main")
    door = await asyncio.start_server(server, "127.0.0.1", 0)
    prompts, scores = asyncio.Queue(), []
    for k in range(120):
        prompts.put_nowait("question %d " % k * (40 if k == 77 else 3))
    workers = [asyncio.create_task(worker(prompts, door.sockets[0].getsockname()[1], scores)) for _ in range(3)]
    await prompts.join()
    for w in workers:
        w.cancel()
    print("mean reward", sum(scores) / len(scores), flush=True)


asyncio.run(main())
