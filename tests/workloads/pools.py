"""A process pool whose main thread waits for a result: pools.py fork|spawn|forkserver CASE FOLDER.

What holds it up writes its process number, and that of its thread, to FOLDER/who; each worker that has begun makes a
file begun-PID.
"""
import concurrent.futures
import multiprocessing as mp
import os
import pathlib
import queue
import signal
import sys
import threading
import time

METHOD, CASE, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

def say():
    new = FOLDER / f"new-{os.getpid()}"
    new.write_text(f"{os.getpid()} {threading.get_native_id()}")
    os.replace(new, FOLDER / "who")


def stand_still(workers):
    """Until none of them has run for a while: all have come to the place where they wait for a task."""
    turns = None
    while turns is None or turns != turns_of(workers):
        turns = turns_of(workers)
        time.sleep(0.1)


def turns_of(workers):
    """How often each had a processor; in a root without /proc nothing is known."""
    return [pathlib.Path(f"/proc/{w.pid}/schedstat").read_text() for w in workers] if os.path.isdir("/proc/self") else []


def stand(*_):
    """Waits for ever for what nobody writes."""
    say()
    os.read(os.pipe()[0], 1)


def first_stands(k):
    if k == 0:
        stand()
    return k


if __name__ != "__main__" and CASE == "starts":
    stand()


def third_stands(k):
    if k == 2:
        stand()
    return k


def dies(k):
    if k == 1:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return k


def sleeps(*_):
    """Works, as far as anybody can see from outside."""
    say()
    while True:
        sum(range(10000))


def ends(*_):
    os._exit(1)


def ends_once(*_):
    """The first workers end in their initializer, the ones after them are slow."""
    if len(list(FOLDER.glob("ended-*"))) < 2:
        (FOLDER / f"ended-{os.getpid()}").touch()
        time.sleep(1)
        os._exit(1)
    stand()


def drip():
    yield 1
    stand()
    yield 2


class Unreadable(Exception):
    """It cannot be made again from what it is sent as."""
    def __init__(self, k, why):
        super().__init__(f"{k}: {why}")


def fails_once(k):
    if k == 0:
        raise Unreadable(k, "it is the first")
    sleeps()


def same(k):
    return k


def pool_case(ctx):
    init = {"init": stand, "endless": ends, "second": ends_once}.get(CASE)
    with ctx.Pool(2, init, maxtasksperchild=3 if CASE == "few" else None) as pool:
        if CASE == "map":
            pool.map(same, range(2))
            pool.map(first_stands, range(4), chunksize=1)
        elif CASE == "starmap":
            pool.starmap(first_stands, [(k,) for k in range(4)])
        elif CASE == "imap":
            pool.map(same, range(2))
            for _ in pool.imap(third_stands, range(6)):
                pass
        elif CASE == "unordered":
            for _ in pool.imap_unordered(first_stands, range(6)):
                pass
        elif CASE == "join":
            pool.apply_async(stand)
            pool.apply_async(same, (1,))
            pool.close()
            pool.join()
        elif CASE == "apply":
            pool.apply(stand)
        elif CASE in ("naps", "naps-works"):
            result = pool.apply_async(stand if CASE == "naps" else sleeps)
            while not result.ready():
                time.sleep(0.05)
        elif CASE == "asks":
            with ctx.Manager() as manager:
                news = manager.Queue()
                result = pool.apply_async(stand)
                while not result.ready():
                    try:
                        news.get(timeout=0.05)
                    except queue.Empty:
                        pass
        elif CASE == "behind":
            others = [pool.apply_async(first_stands, (0,)) for _ in range(2)]
            pool.map(same, range(4))
            del others
        elif CASE == "iterable":
            for _ in pool.imap(same, drip()):
                pass
        elif CASE == "callback":
            pool.apply_async(same, (1,), callback=stand).get()
        elif CASE == "stopped":
            pool.map(same, range(8))
            workers = mp.active_children()
            stand_still(workers)
            for worker in workers:
                os.kill(worker.pid, signal.SIGSTOP)
            pool.map(same, range(4))
        elif CASE == "killed":
            pool.map(dies, range(4), chunksize=1)
        elif CASE == "unreadable":
            pool.map(fails_once, range(2), chunksize=1)
        elif CASE == "works":
            pool.map(sleeps, range(1))
        elif CASE == "input":
            pool.map(same, range(8))
            say()
            sys.stdin.read()
        elif CASE == "few":
            say()
            while True:
                pool.map(time.sleep, [0.05] * 8, chunksize=1)
        else:
            pool.map(same, range(4))


def executor_case(ctx):
    case = CASE[2:]
    with concurrent.futures.ProcessPoolExecutor(2, ctx, stand if case == "init" else None) as pool:
        if case == "map":
            pool.submit(same, 1).result()
            list(pool.map(first_stands, range(6)))
        elif case == "behind":
            others = [pool.submit(first_stands, 0) for _ in range(2)]
            pool.submit(same, 1).result()
            del others
        elif case == "callback":
            future = pool.submit(time.sleep, 0.5)
            future.add_done_callback(stand)
            pool.submit(time.sleep, 1).result()
        elif case == "wait":
            concurrent.futures.wait([pool.submit(first_stands, k) for k in (1, 0)])
        elif case == "any":
            for _ in concurrent.futures.as_completed([pool.submit(first_stands, k) for k in (1, 0)]):
                pass
        elif case == "end":
            pool.submit(stand)
        elif case == "works":
            pool.submit(sleeps).result()
        elif case == "naps":
            future = pool.submit(stand)
            while not future.done():
                time.sleep(0.05)
        elif case == "input":
            pool.submit(same, 1).result()
            say()
            sys.stdin.read()
        else:
            pool.submit(stand).result()


def thread_pool_case():
    with mp.pool.ThreadPool(2) as pool:
        pool.map(first_stands, range(4), chunksize=1)


if __name__ == "__main__":
    if CASE == "threads":
        import multiprocessing.pool
        thread_pool_case()
    elif CASE.startswith("e-"):
        executor_case(mp.get_context(METHOD))
    else:
        pool_case(mp.get_context(METHOD))
