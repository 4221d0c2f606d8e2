"""Programs that know their own stack: stacks.py MODE. Prints one JSON line (pid, tid, stack) and blocks at that place.

The stack is the interpreter's own account, innermost first, of the callers of hold(): [name, file, line]. Runs on every
CPython from 3.8 on, so it uses nothing newer. Ends when its stdin is closed.
"""
import asyncio
import contextlib
import ctypes
import functools
import json
import os
import sys
import threading


def truth(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return stack


def hold():
    tid = threading.get_native_id()
    line = {"pid": os.getpid(), "tid": tid, "stack": truth(sys._getframe(1))}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    os.read(0, 1)
    os._exit(0)


def recursion(n=40):
    if n == 0:
        hold()
    recursion(n - 1)


def deep():
    sys.setrecursionlimit(5000)
    threading.stack_size(256 << 20)
    thread = threading.Thread(target=recursion, args=(1500,))
    thread.start()
    thread.join()


def numbers(n):
    for i in range(n):
        if i == 3:
            hold()
        yield i


def delegating():
    yield from numbers(10)


def generator():
    return sum(delegating())


async def inner():
    await asyncio.sleep(0)
    hold()


async def outer():
    await inner()


def coroutine():
    asyncio.run(outer())


async def many():
    await asyncio.gather(*[outer() for _ in range(3)])


def tasks():
    asyncio.run(many())


def thread():
    t = threading.Thread(target=recursion, args=(5,), name="worker")
    t.start()
    t.join()


def leaderless():
    """The main thread ends by itself; the other one goes on."""
    threading.Thread(target=recursion, args=(5,)).start()
    ctypes.CDLL(None).pthread_exit(None)


def compare(a, b):
    if a == 3:
        hold()
    return a - b


def callback():
    sorted([5, 4, 3, 2, 1], key=functools.cmp_to_key(compare))


def native_callback():
    """C calls Python calls C calls Python."""
    proto = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    depth = []

    def order(a, b):
        depth.append(1)
        if len(depth) > 3:
            callback()
        elif len(depth) > 2:
            sort(array, 5, 4, proto(order))
        return a[0] - b[0]

    array = (ctypes.c_int * 5)(5, 4, 3, 2, 1)
    sort = ctypes.CDLL(None).qsort
    sort.restype = None
    sort.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, proto]
    sort(array, 5, 4, proto(order))


def decorate(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper


@decorate
@decorate
def decorated():
    hold()


def anonymous():
    (lambda x: (lambda y: hold())(x + 1))(1)


def executed():
    source = "def made(x):\n\n    if x:\n        hold()\n\n\nmade(1)\n"
    exec(compile(source, "<made up>", "exec"), {"hold": hold})


class Thing:
    def __init__(self):
        self.size

    @property
    def size(self):
        return [hold() for _ in range(2)]

    class Inner:
        @staticmethod
        def method():
            Thing()


def methods():
    Thing.Inner.method()


@contextlib.contextmanager
def managed():
    hold()
    yield


def context():
    with managed():
        pass


def größe():
    名前()


def 名前():
    hold()


def long_lines():
    value = (1 +
             2 +
             sum(hold() or 0
                 for _ in range(3)) +
             4)
    return value



















































































































































def far_down():
    try:
        raise ValueError("x")
    except ValueError:
        for _ in range(3):
            try:
                hold()
            finally:
                pass


MODES = {f.__name__: f for f in (recursion, deep, generator, coroutine, tasks, thread, leaderless, callback, native_callback, decorated,
                                 anonymous, executed, methods, context, größe, long_lines, far_down)}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        MODES[sys.argv[1]]()
    else:
        print("\n".join(MODES))
