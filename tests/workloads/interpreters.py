"""Code in several interpreters of one process: interpreters.py own|idle|threads|module|swap. Each place that stands prints a JSON line.

The line has the thread, the interpreter's number, and the stack by the interpreters' own account, innermost first: the
callers of hold() in this interpreter, then those of the main one that ran it. Ends when stdin is closed. 3.8 and later.
"""
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


def hold(number, outer):
    inner = truth(sys._getframe(1))
    line = {"tid": threading.get_native_id(), "interpreter": number, "stack": inner + outer, "inner": len(inner)}
    os.write(1, (json.dumps(line) + "\n").encode())
    os.read(0, 1)
    os._exit(0)


def deeper(number, outer, n=3):
    if n == 0:
        hold(number, outer)
    deeper(number, outer, n - 1)


def source(number, outer):
    """What the other interpreter is to run: this file, under another name."""
    return ("with open(%r) as f: text = f.read()\nexec(compile(text, %r, 'exec'), {'__name__': 'inside', 'number': %d, "
            "'outer': %r})\n" % (__file__, __file__, number, outer))


if __name__ == "inside":
    deeper(number, outer)  # noqa: F821 - given by exec
    raise SystemExit

try:
    import _interpreters
    create = _interpreters.create
    run = _interpreters.exec
except ImportError:
    import _xxsubinterpreters
    create = _xxsubinterpreters.create
    run = _xxsubinterpreters.run_string


def own():
    other = create()
    run(other, source(int(other), truth(sys._getframe())))


def idle():
    """The newest interpreter has no thread from 3.13 on, as long as nothing runs in it."""
    create()
    deeper(0, [])


def of_thread(other):
    run(other, source(int(other), truth(sys._getframe())))


def threads():
    """Made by the main thread, run by others: before 3.13 the interpreter's only state says that it is the main thread's."""
    started = [threading.Thread(target=of_thread, args=(create(),)) for _ in range(2)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def module():
    from concurrent import interpreters
    other = interpreters.create()
    other.exec(source(other.id, truth(sys._getframe())))


INSIDE = """
def spin():
    for _ in range(20000):
        pass
def inner_a():
    spin()
def inner_b():
    spin()
"""


def swap():
    """Two threads take turns in one interpreter, and work outside of it in between."""
    other, lock = create(), threading.Lock()
    run(other, INSIDE)

    def between():
        for _ in range(20000):
            pass

    def outer_a():
        with lock:
            run(other, "inner_a()")

    def outer_b():
        with lock:
            run(other, "inner_b()")

    def turns(outer):
        while True:
            outer()
            between()

    threading.Thread(target=turns, args=(outer_b,), daemon=True).start()
    os.write(1, b"{}\n")
    turns(outer_a)


if __name__ == "__main__":
    {f.__name__: f for f in (own, idle, threads, module, swap)}[sys.argv[1]]()
