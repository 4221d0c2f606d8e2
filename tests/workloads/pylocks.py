"""pylocks: one thread for each way to wait for a lock of Python's. First line: {"thread's function": tid}.

With an argument it is a number of threads, which wait for one lock, and each of which holds another one; or "fork": a
child is forked while a lock of multiprocessing is held, {"pid": child, "tid": its thread that waits for the lock}."""
import json
import multiprocessing
import os
import queue
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

a, b, c, rl = threading.Lock(), threading.Lock(), threading.Condition(), threading.RLock()
simple, shared, sem, idle = queue.SimpleQueue(), queue.Queue(), multiprocessing.Lock(), threading.Condition()
tids = {}


def t_holds_a_b():
    with a:
        with b:
            for _ in range(2):
                time.sleep(1e6)  # held


def t_wants_a():
    with a:
        pass


def t_wants_b():
    b.acquire()


def t_holds_condition():
    with c, rl:
        time.sleep(1e6)


def t_wants_condition():
    with c:
        pass


def t_wants_rlock():
    rl.acquire()


def t_queue():
    q = queue.Queue()
    q.get()


def t_shared_queue():
    shared.get()


def t_event():
    threading.Event().wait()


def t_condition():
    k = threading.Condition()
    with k:
        k.wait()


def t_shared_condition():
    with idle:
        idle.wait()


def t_own_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def t_own_with():
    lock = threading.Lock()
    with lock:
        with lock:
            pass


def t_simple():
    queue.SimpleQueue().get()


def t_shared_simple():
    simple.get()


def t_timed():
    queue.Queue().get(timeout=1e6)


def t_pool():
    def work():
        tids["worker"] = threading.get_native_id()
        time.sleep(1e6)
    pool = ThreadPoolExecutor(1)
    pool.submit(work).result()


def t_future():
    Future().result()


def t_holds_multiprocessing():
    with sem:
        time.sleep(1e6)


def t_wants_multiprocessing():
    with sem:
        pass


def t_sleeper():
    time.sleep(1e6)


def t_join():
    threads["t_sleeper"].join()


def t_object():
    class Loader:
        pass
    loader = Loader()
    loader.todo = queue.Queue(3)

    def take(of):
        of.todo.get()
    take(loader)


def many():
    lock = threading.Lock()

    def one():
        with threading.Lock():
            with lock:
                pass
    with lock:
        for _ in range(int(sys.argv[1])):
            threading.Thread(target=one, daemon=True).start()
        print("{}", flush=True)
        sys.stdin.read()


def fork():
    with sem:
        if os.fork() == 0:
            def wants():
                print(json.dumps({"pid": os.getpid(), "tid": threading.get_native_id()}), flush=True)
                with sem:
                    pass
            threading.Thread(target=wants, daemon=True).start()
            sys.stdin.read()
            os._exit(0)
        os.wait()


threads = {}


def start(name):
    begun = threading.Event()

    def go():
        tids[name] = threading.get_native_id()
        begun.set()
        globals()[name]()
    threads[name] = threading.Thread(target=go, name=name, daemon=True)
    threads[name].start()
    begun.wait()
    if name.startswith("t_holds"):
        while not {"t_holds_a_b": b.locked, "t_holds_condition": lambda: not rl_free(),
                   "t_holds_multiprocessing": lambda: sem._semlock._is_zero()}[name]():
            time.sleep(0.001)


def rl_free():
    if rl.acquire(False):
        rl.release()
        return True
    return False


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fork() if sys.argv[1] == "fork" else many()
    for each in [n for n in globals() if n.startswith("t_")]:
        start(each)
    while "worker" not in tids:
        time.sleep(0.001)
    print(json.dumps(tids), flush=True)
    sys.stdin.read()
