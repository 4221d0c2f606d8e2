"""All epochs are done. asyncio.run waits for the threads of its executor, one of which still listens for commands that nobody sends."""
import asyncio
import queue

import kit9

commands = queue.Queue()


def listen():
    while True:
        command = commands.get()
        if command == "stop":
            return


async def main():
    listener = asyncio.get_running_loop().run_in_executor(None, listen)
    for epoch in range(10):
        await asyncio.to_thread(kit9.crunch, 0.3)
        print("epoch %d/10 val_acc 0.%d" % (epoch + 1, 80 + epoch), flush=True)
    listener.cancel()


kit9.role("main")
asyncio.run(main())
print("bye", flush=True)
