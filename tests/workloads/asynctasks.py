"""Asyncio tasks in each kind of wait. Writes one line of JSON, {"peer": its child}, and waits for ever.

    asynctasks.py all            a task of each kind, by their names
    asynctasks.py KIND           the main task alone is in it: queue, stream, executor, chain, lock, local, kept; producer
                                 (a queue whose producer has ended), shared (another task has the queue, too), joined (a queue of which a task has
                                 not told that a thing is done), joined-kept (the same, and another task has it, too)
    asynctasks.py fork           a task has forked a child, which waits for a lock in a copy of the loop
"""
import asyncio
import concurrent.futures
import functools
import json
import os
import socket
import sys
import threading


def never():
    threading.Event().wait()


async def queue():
    await asyncio.Queue().get()


async def future():
    await asyncio.get_running_loop().create_future()


async def local():
    done = asyncio.get_running_loop().create_future()
    await done  # of nobody else


async def kept(futures):
    futures.append(asyncio.get_running_loop().create_future())
    await futures[-1]


async def scheduled():
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(3600, done.set_result, 1)
    await done


async def event():
    await asyncio.Event().wait()


async def fill(box):
    await box.put(1)


async def empty(box):
    while True:
        await box.get()  # of a producer


async def producer():
    box = asyncio.Queue(2)
    work = asyncio.create_task(fill(box))
    await asyncio.gather(work, empty(box), return_exceptions=True)


async def hoard(box):
    await asyncio.get_running_loop().create_future()
    await box.put(1)


async def shared():
    box = asyncio.Queue(2)
    work = asyncio.create_task(hoard(box), name="hoard")
    await asyncio.gather(empty(box), return_exceptions=True)
    await work


async def take(box):
    while True:
        if await box.get():
            box.task_done()


async def joined(kept):
    box = asyncio.Queue()
    for k in range(4):
        box.put_nowait(k)
    tasks = [asyncio.create_task(take(box)) for _ in range(2)]
    if kept:
        tasks.append(asyncio.create_task(hoard(box)))
    await box.join()


async def stream(sock):
    reader, _ = await asyncio.open_connection(sock=sock)
    await inner_read(reader)


async def inner_read(reader):
    return await reader.readline()


async def receive(sock):
    sock.setblocking(False)
    return await asyncio.get_running_loop().sock_recv(sock, 1)


async def nap():
    await asyncio.sleep(3600)


async def limited():
    await asyncio.wait_for(asyncio.Event().wait(), 3600)


async def executor(pool):
    await asyncio.get_running_loop().run_in_executor(pool, never)


async def gathering(named):
    await asyncio.gather(named("child a", event()), named("child b", future()))


async def one(task):
    await task


async def hold(lock, taken):
    async with lock:
        taken.set()
        await asyncio.Event().wait()


async def wants(lock):
    async with lock:
        pass


async def grouping(named):
    async with asyncio.TaskGroup() as group:
        kwargs = {"name": "member"}
        group.create_task(event(), **kwargs)


async def fail(queue):
    raise IndexError("no row is left")


async def handle(queue, came, reader, writer):
    came.set()
    writer.write(await queue.get())


async def serves(named, tell):
    """A server whose handler waits in a queue; the task that fills it has failed. A child asks it."""
    queue, came = asyncio.Queue(), asyncio.Event()
    named("fill", fail(queue))
    server = await asyncio.start_server(functools.partial(handle, queue, came), "127.0.0.1", 0)
    pid = os.fork()
    if pid == 0:
        with socket.create_connection(server.sockets[0].getsockname()) as sock:
            sock.recv(1)
        os._exit(0)
    await came.wait()
    tell(pid)
    async with server:
        await server.serve_forever()


def pair():
    """A socket whose other end a child has, which sleeps."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        theirs.recv(1)
        os._exit(0)
    theirs.close()
    return ours, pid


def copy():
    """A child that goes on inside the task, and ends with its parent."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(theirs)
        threading.Thread(target=lambda: (os.read(ours, 1), os._exit(0)), daemon=True).start()
        never()
    os.close(ours)
    return theirs, pid


async def main(what):
    tasks, futures = [], []
    loop = asyncio.get_running_loop()

    def named(name, coroutine):
        tasks.append(asyncio.Task(coroutine, loop=loop, name=name))
        return tasks[-1]

    lock, taken = asyncio.Lock(), asyncio.Event()
    sock, pid = pair() if what in ("all", "stream") else (None, 0)
    plain, other = pair() if what == "all" else (None, 0)
    pipe, pid = copy() if what == "fork" else (None, pid)
    pool = concurrent.futures.ThreadPoolExecutor(1, "pool")
    if what == "all":
        named("queue", queue())
        named("future", future())
        named("local", local())
        named("kept", kept(futures))
        named("scheduled", scheduled())
        named("stream", stream(sock))
        named("receive", receive(plain))
        named("nap", nap())
        named("limited", limited())
        named("executor", executor(pool))
        named("gathering", gathering(named))
        named("one", one(named("held", hold(lock, taken))))
        await taken.wait()
        named("wants", wants(lock))
        if sys.version_info >= (3, 11):
            named("grouping", grouping(named))
        await asyncio.sleep(0.2)
    def tell(peer):
        print(json.dumps({"peer": peer, "other": other, "main": threading.get_native_id()}), flush=True)

    if what == "serves":
        return await serves(named, tell)
    tell(pid)
    if what in ("all", "fork"):
        await future()
    elif what == "queue":
        await queue()
    elif what == "local":
        await local()
    elif what == "kept":
        await kept(futures)
    elif what == "stream":
        await stream(sock)
    elif what == "executor":
        await executor(pool)
    elif what == "chain":
        await one(named("middle", one(named("last", queue()))))
    elif what == "producer":
        await producer()
    elif what == "shared":
        await shared()
    elif what.startswith("joined"):
        await joined(what == "joined-kept")
    elif what == "lock":
        named("holder", hold(lock, taken))
        await taken.wait()
        await wants(lock)


asyncio.run(main(sys.argv[1]))
