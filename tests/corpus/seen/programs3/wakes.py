"""Healthy jobs whose threads wake up often, and wait for somebody who works."""
import asyncio
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kit3 import kit, quiet, run, steps, work  # noqa: E402

LONG = 65


def serve(handlers, threads=6):
    import concurrent.futures
    import grpc
    srv = grpc.server(concurrent.futures.ThreadPoolExecutor(threads))
    rows = {name: grpc.unary_unary_rpc_method_handler(fn) for name, fn in handlers.items()}
    srv.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("ps", rows),))
    srv.add_insecure_port("127.0.0.1:" + os.environ["MASTER_PORT"])
    srv.start()
    return srv


def calls(*names):
    import grpc
    channel = grpc.insecure_channel("127.0.0.1:" + os.environ["MASTER_PORT"])
    return [channel.unary_unary("/ps/" + n) for n in names]


@quiet("u-grpc-barrier", "gRPC barrier, others wait for a rank that works", 80, 4, needs=["grpc"])
def grpc_barrier():
    """ranks 1 to 3 meet in a handler of rank 0's server; rank 3 validates for a minute"""
    n = 9
    if kit.RANK == 0:
        here, left = threading.Barrier(3), threading.Barrier(4)

        def meet(request, context):
            here.wait()
            return b"ok"

        def leave(request, context):
            left.wait()
            return b"ok"
        srv = serve({"meet": meet, "leave": leave})
        threading.Thread(target=lambda: (left.wait(), time.sleep(0.5), srv.stop(None)), daemon=True).start()
        srv.wait_for_termination()
        return
    meet, leave = calls("meet", "leave")
    for i in range(n):
        meet(b"", wait_for_ready=True)
        kit.step(i)
        time.sleep(0.3)
        if i == 6 and kit.RANK == 3:
            work(LONG)
    leave(b"", wait_for_ready=True)


@quiet("u-grpc-deadline", "gRPC call with a deadline", 80, 2, needs=["grpc"])
def grpc_deadline():
    """rank 1 gives a call a minute, which passes, and goes on without the answer"""
    import grpc
    star = kit.Star(int(os.environ["MASTER_PORT"]) + 1)
    if kit.RANK == 0:
        serve({"ask": lambda request, context: threading.Event().wait() and b"ok"})
    else:
        ask, = calls("ask")
    for i in range(10):
        if kit.RANK == 1 and i == 6:
            try:
                ask(b"", timeout=kit.secs(60), wait_for_ready=True)
            except grpc.RpcError as e:
                print("no answer:", e.code().name, flush=True)
        star.allreduce(1)
        if kit.RANK == 0:
            kit.step(i)
        time.sleep(0.3)
    sys.stdout.flush()
    os._exit(0)


@quiet("u-aio-late", "server of asyncio, its answer takes a while", 65, 3)
def aio_late():
    """rank 0 answers with asyncio; one answer waits for a computation in a thread"""
    if kit.RANK == 0:
        async def body():
            n, ready, gone = 0, asyncio.Event(), asyncio.Event()

            async def compute():
                await asyncio.to_thread(work, LONG - 15)
                ready.set()

            async def client(reader, writer):
                nonlocal n
                while await reader.readline():
                    n += 1
                    if n == 12:
                        client.task = asyncio.create_task(compute())
                    if n >= 12:
                        await ready.wait()
                    writer.write(b"ok\n")
                gone.set()
            async with await asyncio.start_server(client, "127.0.0.1", int(os.environ["MASTER_PORT"])):
                await gone.wait()
        asyncio.run(body())
        return
    s = kit.dial(int(os.environ["MASTER_PORT"]))
    for i in range(12):
        s.sendall(b"step\n")
        s.recv(100)
        if kit.RANK == 1:
            kit.step(i)
        time.sleep(0.3)


@quiet("u-aio-meet", "server of asyncio in which ranks meet", 80, 4)
def aio_meet():
    """rank 0 answers each round once all have asked; rank 2 reads a validation set for a minute before it asks"""
    if kit.RANK == 0:
        async def body():
            waiting, gone = [], asyncio.Event()

            async def client(reader, writer):
                while await reader.readline():
                    mine = asyncio.get_running_loop().create_future()
                    waiting.append(mine)
                    if len(waiting) == 3:
                        for one in waiting:
                            one.set_result(None)
                        waiting.clear()
                    await mine
                    writer.write(b"ok\n")
                gone.set()
            server = await asyncio.start_server(client, "127.0.0.1", int(os.environ["MASTER_PORT"]))
            task = asyncio.create_task(server.serve_forever())
            await gone.wait()
            task.cancel()
        asyncio.run(body())
        return
    s = kit.dial(int(os.environ["MASTER_PORT"]))
    for i in range(10):
        if i == 7 and kit.RANK == 2:
            work(LONG)
        s.sendall(b"step\n")
        s.recv(100)
        if kit.RANK == 1:
            kit.step(i)
        time.sleep(0.3)


@quiet("u-zmq-late", "ZeroMQ, the sender works", 80, 2, needs=["zmq"])
def zmq_late():
    """rank 0 waits for the next batch, which rank 1 prepares for a minute"""
    import zmq
    s = zmq.Context().socket(zmq.PULL if kit.RANK == 0 else zmq.PUSH)
    at = f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}"
    s.bind(at) if kit.RANK == 0 else s.connect(at)
    for i in range(10):
        if kit.RANK == 0:
            s.recv()
            kit.step(i)
            continue
        time.sleep(0.3)
        if i == 7:
            work(LONG)
        s.send(b"batch")


@quiet("u-mkdir-held", "lock by mkdir, held by one that works", 80, 2)
def mkdir_held():
    """rank 0 builds an extension for a minute; rank 1 tries for the lock, a directory, meanwhile"""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        if kit.RANK == 0:
            kit.step(i)
        time.sleep(0.3)
    if kit.RANK == 1:
        time.sleep(1)
    lock = os.path.join(os.path.dirname(kit.tmp("x")), "extension.lck")
    while True:
        try:
            os.mkdir(lock)
            break
        except FileExistsError:
            time.sleep(0.3)
    if kit.RANK == 0:
        work(LONG)
    os.rmdir(lock)
    star.barrier()


@quiet("u-mkdir-other", "lock by mkdir, held by another job that works", 80)
def mkdir_other():
    """another job holds a lock by mkdir for a minute, and works"""
    steps()
    lock = os.path.join(os.path.dirname(kit.tmp("x")), "other.lck")
    os.mkdir(lock)
    if os.fork() == 0:
        os.setsid()
        os.chdir(os.path.dirname(lock))
        if os.fork() == 0:
            work(LONG)
            os.rmdir(lock)
        os._exit(0)
    while True:
        try:
            os.mkdir(lock)
            break
        except FileExistsError:
            time.sleep(0.3)
    steps(3, first=6)


if __name__ == "__main__":
    run()
