"""A server of one worker by asyncio; its only client comes, works elsewhere for 70 s, and asks again. The server ends with its 20th answer."""
import asyncio
import os
import socket
import sys
import time

import kit7


def client(port):
    with kit7.dial(port).makefile("rw") as link:
        for n in range(20):
            if n == 12:
                time.sleep(70)
            link.write("prompt %d\n" % n)
            link.flush()
            link.readline()
            time.sleep(0.2)


async def serve(door):
    async def answer(reader, writer):
        for n in range(20):
            text = await reader.readline()
            print("INFO: 127.0.0.1 - \"POST /generate\" 200", text.decode().strip(), flush=True)
            writer.write(b"answer\n")
        done.set()
    done = asyncio.Event()
    async with await asyncio.start_server(answer, sock=door):
        await done.wait()


if sys.argv[1:]:
    client(int(sys.argv[1]))
    sys.exit()
kit7.role("main")
door = socket.socket()
door.bind(("127.0.0.1", 0))
kit7.start([sys.executable, os.path.abspath(__file__), str(door.getsockname()[1])], "client")
asyncio.run(serve(door))
