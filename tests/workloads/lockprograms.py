"""lockprograms SEED THREADS: random programs that take locks in every way Python has, and know who holds which.

For each line on stdin another THREADS programs are written, each run by a thread of its own, one after another, until
it stands still for ever. Then one line of JSON says the truth, and the next line on stdin lets them all go:
  {"tid": {"need": [address], "may": [address], "given": [address], "source": text}}
  need    locks that the thread holds by a `with` that has not ended
  may     those that it holds in another way (acquire, ExitStack, a generator that sleeps): to be told, or not
  given   those that it has let go inside a `with` of it: a reader may think that it holds them, if it says it is unsure
A lock that is in none of them, and is told, is told wrongly. Addresses are those of the objects that store the state: of
a Condition its lock, of a lock of multiprocessing the SemLock. Runs on CPython 3.8 and later."""
import asyncio
import contextlib
import faulthandler
import functools
import json
import multiprocessing
import os
import queue
import random
import re
import select
import sys
import threading

V = sys.version_info[:2]
R = random.Random(int(sys.argv[1]))
THREADS = int(sys.argv[2])
N = 3 * THREADS
KINDS = {"L": [threading.Lock() for _ in range(N)],
         "RL": [threading.RLock() for _ in range(N)],
         "C": [threading.Condition(threading.Lock() if i % 2 else None) for i in range(N)],
         "ML": [multiprocessing.Lock() for _ in range(THREADS)],
         "MR": [multiprocessing.RLock() for _ in range(THREADS)],
         "MC": [multiprocessing.Condition() for _ in range(THREADS // 2)]}
globals().update(KINDS)
S = [threading.Semaphore(10**6) for _ in range(4)]       # never told of: they have no holder
MS = [multiprocessing.Semaphore(10**6) for _ in range(2)]
REENTRANT = ("RL", "MR")


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *a):
        return True


class Later:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *a):
        return False


class Box:
    pass


@contextlib.contextmanager
def locked(lock):
    with lock:
        yield lock


@contextlib.asynccontextmanager
async def later_locked(lock):
    with lock:
        yield lock


def nothing(*a, **k):
    return None


def fails(*a):
    raise ValueError("as wanted")


def address(name):
    """Of the object that has the state of a lock like "C[3]"."""
    thing = eval(name, globals())
    if name[0] == "M":
        return id((thing._lock if name.startswith("MC") else thing)._semlock)
    return id(thing._lock if name.startswith("C") else thing)


class Batch:
    """What the programs that stand now share."""

    def __init__(self):
        self.pipe = os.pipe()
        self.gate = threading.Event()
        self.open = self.gate.is_set
        self.own = []       # queues and events of single programs
        self.used = set()   # locks that belong to one of the programs
        self.held = []      # those that are taken, whoever has them
        self.lent = []      # those that a program has let go inside its `with`
        self.conditions = []

    def let_go(self):
        self.gate.set()
        os.close(self.pipe[1])
        for thing in self.own:
            if isinstance(thing, queue.Queue):
                thing.queue.extend([None] * 1000)  # it may ask again and again
                thing.put(None)
            else:
                thing.set()
        left = self.conditions
        while left:  # one may be held by a program that waits in another
            held = []
            for c in left:
                if c.acquire(timeout=0.01):
                    c.notify_all()
                    c.release()
                else:
                    held.append(c)
            left = held

    def end(self):
        os.close(self.pipe[0])


class Writer:
    def __init__(self, number, batch):
        self.number, self.batch = number, batch
        self.lines, self.count = [], 0
        self.need, self.may, self.given, self.own = [], [], [], []
        self.can_wait = True   # for another program's lock; not with one that its owner wants back before it ends
        self.in_loop = False

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def free(self, kinds=("L", "L", "L", "RL", "RL", "C", "C", "ML", "MR", "MC")):
        """A lock that nobody holds, from now on this program's; None: none was found."""
        kind = R.choice(kinds)
        lent = [k for k in self.batch.lent if k.startswith(kind + "[")]
        if lent and R.random() < 0.3:
            self.can_wait = False
            self.batch.lent.remove(lent[0])
            return lent[0]
        for _ in range(20):
            lock = f"{kind}[{R.randrange(len(KINDS[kind]))}]"
            if lock not in self.batch.used:
                self.batch.used.add(lock)
                return lock
        return None

    def take(self, lock, how):
        how.append(lock)
        (self.batch.lent if how is self.given else self.batch.held).append(lock)

    def spelled(self, d, lock):
        """The lock as an expression; what it needs is written before."""
        way, x = R.choice(["plain"] * 6 + ["local", "attribute", "call", "index", "walrus", "conditional", "cell", "method"]), self.name()
        if way == "local":
            self.put(d, f"{x} = {lock}")
        elif way == "attribute":
            self.put(d, f"{x} = Box(); {x}.lock = {lock}")
        elif way == "cell":
            self.put(d, f"{x} = {lock}")
            self.put(d, f"{x}f = lambda: {x}")
        return {"plain": lock, "local": x, "attribute": f"{x}.lock", "call": f"(lambda: {lock})()", "index": f"[1, {lock}][1]",
                "walrus": f"({x} := {lock})", "conditional": f"({lock} if nothing() is None else L[0])", "cell": x,
                "method": f"functools.partial(nothing, {lock}).args[0]"}[way]

    def block(self, d, left):
        """Writes blocks inside one another, then what the thread stands in."""
        if left == 0 or d > 15:
            return self.last(d)
        ways = [w for w in dir(self) if w.startswith("w_")]
        weights = [6 if w in ("w_with", "w_with2") else 1 for w in ways]
        getattr(self, R.choices(ways, weights)[0])(d, left - 1)

    # ---- with ----

    def w_with(self, d, n, form="with {0}:"):
        lock = self.free()
        if lock:
            self.put(d, form.format(self.spelled(d, lock), self.name()))
            self.take(lock, self.need)
            self.block(d + 1, n)
        else:
            self.block(d, n)

    def w_withas(self, d, n):
        self.w_with(d, n, "with {0} as {1}:")

    def w_with2(self, d, n):
        """Several in one `with`, some of which are no locks."""
        items = []
        for _ in range(R.randrange(2, 5)):
            lock = self.free()
            if lock:
                self.take(lock, self.need)
                items.append(self.spelled(d, lock))
            if not lock or R.random() < 0.3:
                items.append(R.choice(["Manager()", "S[0]", "MS[1]", "contextlib.nullcontext()"]))
        if V >= (3, 10) and R.random() < 0.4:
            self.put(d, "with (")
            for item in items:
                self.put(d + 1, item + ",")
            self.put(d, "):")
        else:
            self.put(d, f"with {', '.join(items)}:")
        self.block(d + 1, n)

    def w_again(self, d, n):
        lock = self.free(REENTRANT)
        if not lock:
            return self.block(d, n)
        self.take(lock, self.need)
        self.put(d, f"with {lock}:")
        self.put(d + 1, f"with {lock}:")
        self.block(d + 2, n)

    def w_second_waits(self, d, n):
        """It stands in the __enter__ of the second of two."""
        a, b, x = self.free(), self.free(), self.name()
        if not a or not b:
            return self.block(d, n)
        self.take(a, self.need)
        self.put(d, f"class {x}(Manager):")
        self.put(d + 1, "def __enter__(self):")
        self.block(d + 2, n)
        self.put(d + 2, "return self")
        self.put(d, f"with {a}, {x}(), {b}: pass")

    def w_exit_waits(self, d, n):
        """It stands in an __exit__: of the inner of two, or of the outer, when the lock is free again."""
        lock, x = self.free(), self.name()
        form = R.choice(["with {0}:\n    with {1}(): {2}", "with {0}, {1}(): {2}", "with {1}(), {0}: {2}",
                         "with {1}():\n    with {0}: {2}", "with {0}:\n    with {1}():\n        for _ in (1, 2): {2}"])
        if not lock:
            return self.block(d, n)
        if form.index("{0}") < form.index("{1}"):
            self.take(lock, self.need)
        self.put(d, f"class {x}(Manager):")
        self.put(d + 1, "def __exit__(self, *a):")
        self.block(d + 2, n)
        self.put(d + 2, "return True")
        for line in form.format(lock, x, R.choice(["pass", "fails()", "nothing()", "raise KeyError"])).split("\n"):
            self.put(d, line)

    def w_done(self, d, n):
        """Locks that were taken and given back before."""
        lock = self.free()
        forms = ["with {0}: nothing()", "try:\n    with {0}: fails()\nexcept ValueError: pass", "with contextlib.suppress(ValueError), {0}: fails()",
                 "for _ in (1, 2):\n    with {0}: continue", "for _ in (1, 2):\n    with {0}: break",
                 "while True:\n    with {0}:\n        with Manager(): break", "{0}.acquire(); {0}.release()",
                 "def {1}():\n    with {0}: return 1\nnothing(1, {1}(), {1}())", "[{0}.__enter__(), {0}.__exit__(None, None, None)]",
                 "def {1}():\n    with {0}: yield 1\nlist({1}())", "with locked({0}): pass", "with contextlib.ExitStack() as {1}: {1}.enter_context({0})"]
        if lock:
            for line in R.choice(forms).format(lock, self.name()).split("\n"):
                self.put(d, line)
        self.block(d, n)

    def w_handler_after(self, d, n):
        """It stands in the handler of an exception that has left a `with`, whose frames the traceback keeps."""
        lock, x = self.free(), self.name()
        if not lock:
            return self.block(d, n)
        self.put(d, f"def {x}():")
        self.put(d + 1, f"with {lock}: fails(1)")
        self.put(d, "try:")
        self.put(d + 1, R.choice([f"{x}()", f"with {lock}: fails()"]))
        self.put(d, "except ValueError as e:")
        self.block(d + 1, n)

    def w_handler_in(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.need)
        self.put(d, f"with {lock}:")
        self.inside(d + 1, n, "try:", "    fails()", R.choice(["except ValueError:", "except ValueError as e:", "except:"]))

    def w_star_handler(self, d, n):
        if V < (3, 11):
            return self.block(d, n)
        lock, f = self.free(), self.name()  # return and break are not allowed in there
        if lock:
            self.take(lock, self.need)
        self.put(d, f"def {f}():")
        self.block(d + 1, n)
        self.put(d, f"with {lock or 'Manager()'}:")
        for line in ("try:", "    raise ExceptionGroup('x', [ValueError(1), KeyError(2)])", "except* ValueError as e:",
                     "    nothing()", "except* KeyError:", f"    {f}()"):
            self.put(d + 1, line)

    def w_finally_return(self, d, n):
        """`finally` on the way of a return: within the `with`, or around it."""
        lock, f = self.free(), self.name()
        if not lock:
            return self.block(d, n)
        self.put(d, f"def {f}():")
        if R.random() < 0.5:
            self.take(lock, self.need)
            self.put(d + 1, f"with {lock}:")
            self.put(d + 2, "try:")
            self.put(d + 3, R.choice(["return nothing()", "fails()", "pass"]))
            self.put(d + 2, "finally:")
            self.block(d + 3, n)
        else:
            self.put(d + 1, "try:")
            self.put(d + 2, f"with {lock}:")
            self.put(d + 3, R.choice(["return 1", "fails()", "pass"]))
            self.put(d + 1, "finally:")
            self.block(d + 2, n)
        self.put(d, "with contextlib.suppress(ValueError):")
        self.put(d + 1, f"{f}()")

    def w_given_back(self, d, n):
        lock = self.free(("L", "ML"))
        if not lock:
            return self.block(d, n)
        self.take(lock, self.given)
        self.put(d, f"with {lock}:")
        self.put(d + 1, f"{lock}.release()")
        self.put(d + 1, "try:")
        self.block(d + 2, n)
        self.put(d + 1, "finally:")
        self.put(d + 2, f"{lock}.acquire()")

    # ---- other ways to hold one ----

    def w_acquire(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.may)
        self.put(d, R.choice(["{0}.acquire()", "nothing(1, {0}.acquire())", "{0}.__enter__()"]).format(lock))
        self.put(d, "try:")
        self.block(d + 1, n)
        self.put(d, "finally:")
        self.put(d + 1, f"{lock}.release()")

    def w_stack(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.may)
        self.put(d, "with contextlib.ExitStack() as s:")
        self.put(d + 1, f"s.enter_context({lock})")
        self.block(d + 1, n)

    def w_stack_unwinds(self, d, n):
        """ExitStack calls back while locks that it was given later are free again, and earlier ones are not."""
        a, b, f = self.free(), self.free(), self.name()
        if not a or not b:
            return self.block(d, n)
        self.take(a, self.may)
        self.put(d, f"def {f}():")
        self.block(d + 1, n)
        self.put(d, "with contextlib.ExitStack() as s:")
        for line in (f"s.enter_context({a})", f"s.callback({f})", f"s.enter_context({b})"):
            self.put(d + 1, line)

    def w_manager_of(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.may)
        self.inside(d, n, f"with locked({lock}):")

    def w_sleeping_generator(self, d, n):
        lock, g = self.free(), self.name()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.may)
        self.put(d, f"{g} = locked({lock}); {g}.__enter__()")
        self.inside(d, n, "try:", after=("finally:", f"    {g}.__exit__(None, None, None)"))

    def w_exit_lies_about(self, d, n):
        """A lock's __exit__ on the evaluation stack without a `with` of it."""
        lock, f = f"L[{R.randrange(N)}]", self.name()
        self.put(d, f"def {f}(*a):")
        self.block(d + 1, n)
        self.put(d, R.choice(["nothing({0}.__exit__, {1}())", "[{0}.__exit__, {0}.__exit__, {1}()]", "{1}({0}.__exit__)",
                              "for x in ({0}.__exit__,): {1}()", "{{{0}.__exit__: {1}()}}", "x = {0}.__exit__, {1}()",
                              "with Manager(): nothing({0}.__exit__, {1}())"]).format(lock, f))

    # ---- what else there is around ----

    def inside(self, d, n, *heads, after=()):
        for head in heads:
            self.put(d, head)
        self.block(d + 1, n)
        for line in after:
            self.put(d, line)

    def w_for(self, d, n): self.inside(d, n, "for i in range(3):")
    def w_forlist(self, d, n): self.inside(d, n, f"for {self.name()}, _ in enumerate([1, 2]):")
    def w_while(self, d, n): self.inside(d, n, "while True:", after=("    break",))
    def w_try(self, d, n): self.inside(d, n, "try:", after=("finally:", "    nothing()"))
    def w_except(self, d, n): self.inside(d, n, "try:", after=("except ValueError as e:", "    nothing(e)"))
    def w_else(self, d, n): self.inside(d, n, "try:", "    pass", "except ValueError:", "    pass", "else:")
    def w_for_else(self, d, n): self.inside(d, n, "for i in ():", "    pass", "else:")
    def w_handler(self, d, n): self.inside(d, n, "try:", "    {}[1]", "except KeyError as e:")
    def w_suppress(self, d, n): self.inside(d, n, "with contextlib.suppress(ValueError):")
    def w_manager(self, d, n): self.inside(d, n, f"with {R.choice(['Manager()', 'S[1]', 'MS[0]', 'Manager() as m, S[2]'])}:")

    def w_match(self, d, n):
        if V < (3, 10):
            return self.block(d, n)
        self.put(d, "match (1, {'a': 2}):")
        self.put(d + 1, "case (x, {'a': y}):")
        self.block(d + 2, n)

    def w_padding(self, d, n):
        """Many variables and much code, before and behind."""
        f, many = self.name(), R.choice([3, 30, 300, 600])
        self.put(d, f"def {f}():")
        self.put(d + 1, " = ".join(f"x{i}" for i in range(many)) + " = 1")
        for i in range(0, many, 40):
            self.put(d + 1, f"if x{i} == 2: nothing({', '.join(f'x{k}' for k in range(i, min(i + 40, many)))})")
        self.block(d + 1, n)
        for i in range(0, many, 40):
            self.put(d + 1, f"if x{i} == 2: nothing({', '.join(f'x{k}' for k in range(i, min(i + 40, many)))})")
        self.put(d, f"{f}()")

    def function(self, d, n, head="def {0}(x, *a):", call="{0}(1)", tail=None):
        f = self.name()
        self.put(d, head.format(f))
        self.block(d + 1, n)
        for line in tail.format(f).split("\n") if tail else ():
            self.put(d + 1, line)
        for line in call.format(f).split("\n"):
            self.put(d, line)

    CALLS = ["{0}(1)", "{0}(*(1, 2))", "{0}(x=nothing(1, 2))", "[{0}(y) for y in range(2)]", "{{y: {0}(y) for y in range(2)}}",
             "[[{0}(y) for y in range(z)] for z in (1, 2)]", "(lambda: {0}(2))()", "sorted([2, 1], key={0})", "max([1, 2], key={0})",
             "list(map({0}, [1, 2]))", "list(filter({0}, [1, 2]))", "functools.reduce({0}, [1, 2, 3])", "re.sub('a', lambda m: str({0}(m)), 'aa')",
             "functools.lru_cache()({0})(1)", "functools.partial({0}, 1)()", "sorted([2, 1], key=functools.cmp_to_key({0}))",
             "type('T', (), {{'__getattr__': {0}}})().x", "type('T', (), {{'__eq__': {0}}})() == 1", "1 in [type('T', (), {{'__eq__': {0}}})()]",
             "type('T', (), {{'x': property({0})}})().x", "type('T', (), {{'__del__': {0}}})(); nothing()",
             "iter(lambda: {0}(1), None).__next__()", "nothing(1, 2, {0}(1))", "x = {0}(1) or 2", "assert not {0}(1)", "f'{{{0}(1)}}'",
             "eval('{0}(1)', {{'{0}': {0}}})", "exec('{0}(1)', {{'{0}': {0}}})", "class Y:\n    x = {0}(1)", "@{0}\ndef y(): pass", "def y(a={0}(1)): pass",
             "asyncio.run(later({0}))"]

    def w_call(self, d, n):
        call = R.choice(self.CALLS[:-1] if self.in_loop else self.CALLS)
        self.in_loop |= "asyncio" in call
        self.function(d, n, call=call, tail="return 0")

    def w_gen(self, d, n): self.function(d, n, call=R.choice(["for _ in {0}(1): pass", "next({0}(1))", "list({0}(1))", "a, *b = {0}(1)"]), tail="yield 1")
    def w_gen_from(self, d, n): self.function(d, n, call="def {0}y():\n    yield from {0}(1)\nlist({0}y())", tail="yield 1")
    def w_gen_expression(self, d, n): self.function(d, n, call="list({0}(x) for x in (1, 2))")
    def w_coroutine(self, d, n): self.function(d, n, head="async def {0}(x):", call="try: {0}(1).send(None)\nexcept StopIteration: pass")

    def w_await(self, d, n):
        lock = self.free()
        f = self.name()
        if lock:
            self.take(lock, self.need)
        self.put(d, f"async def {f}(x):")
        self.block(d + 1, n)
        self.put(d, f"async def {f}y():")
        self.put(d + 1, R.choice(["with {0}: await {1}(1)", "async with Later():\n        with {0}: await {1}(2)"]).format(lock or "Manager()", f)
                 .replace("\n", "\n" + "    " * d))
        self.put(d, f"try: {f}y().send(None)")
        self.put(d, "except StopIteration: pass")

    def w_async_for(self, d, n):
        f = self.name()
        self.put(d, f"async def {f}(x):")
        self.block(d + 1, n)
        self.put(d + 1, "yield 1")
        self.put(d, f"async def {f}y():")
        self.put(d + 1, f"async for _ in {f}(1): pass")
        self.put(d, f"try: {f}y().send(None)")
        self.put(d, "except StopIteration: pass")

    def w_async_with(self, d, n):
        f = self.name()
        self.put(d, f"async def {f}(x):")
        self.put(d + 1, "async with Later():")
        self.block(d + 2, n)
        self.put(d, f"try: {f}(1).send(None)")
        self.put(d, "except StopIteration: pass")

    def w_loop(self, d, n):
        """In an event loop: locks of its own kind beside, and one that a coroutine which sleeps has."""
        if self.in_loop:
            return self.block(d, n)
        self.in_loop = True
        f, lock = self.name(), self.free()
        self.put(d, f"async def {f}():")
        if lock:
            self.take(lock, self.may)
        self.put(d + 1, "async def sleeps(go):")
        self.put(d + 2, f"with {lock or 'Manager()'}: await go.wait()")
        self.put(d + 1, "go = asyncio.Event()")
        self.put(d + 1, "beside = asyncio.ensure_future(sleeps(go))")
        self.put(d + 1, "await asyncio.sleep(0)")
        self.put(d + 1, "async with asyncio.Lock():")
        self.block(d + 2, n)
        self.put(d + 1, "go.set(); await beside")
        self.put(d, f"asyncio.run({f}())")

    def w_method(self, d, n):
        f = self.name()
        self.put(d, f"class {f}:")
        self.put(d + 1, "def go(self):")
        self.block(d + 2, n)
        self.put(d, f"{f}().go()")

    def w_class_body(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        f = self.name()
        self.take(lock, self.need)
        self.put(d, f"def {f}():")
        self.block(d + 1, n)
        self.put(d, f"class {f}y:")
        self.put(d + 1, f"with {lock}: x = {f}()")

    def w_exec(self, d, n):
        lock, f = self.free(), self.name()
        if not lock:
            return self.block(d, n)
        self.take(lock, self.need)
        self.put(d, f"def {f}():")
        self.block(d + 1, n)
        self.put(d, f"exec('with {lock}: {f}()', dict(globals(), {f}={f}))")

    def w_deep(self, d, n):
        f = self.name()
        self.put(d, f"def {f}(depth):")
        self.put(d + 1, f"if depth: return {f}(depth - 1)")
        self.block(d + 1, n)
        self.put(d, f"{f}({R.choice([1, 5, 40, 150])})")

    def w_old_slots(self, d, n):
        """What earlier calls leave behind on the evaluation stack."""
        lock = f"L[{R.randrange(N)}]"
        for _ in range(R.randrange(1, 4)):
            self.put(d, R.choice(["nothing({0}.__exit__)", "nothing(1, 2, {0}.__exit__, {0})", "[1, 2, {0}.__exit__]",
                                  "nothing(1, nothing(2, {0}.__exit__))"]).format(lock))
        self.block(d, n)

    # ---- what it stands in ----

    def last(self, d):
        theirs = [k for k in self.batch.held if k not in self.need and k not in self.may]
        way = R.choice(["read", "select", "event", "queue", "lock", "lock", "lock", "condition", "own condition", "loop"])
        if way == "lock" and theirs and self.can_wait:
            self.put(d, "ready()")
            self.put(d, R.choice(["with {0}: pass", "{0}.acquire(); {0}.release()", "with Manager(), {0}: pass"]).format(R.choice(theirs)))
        elif way == "condition":
            self.wait_condition(d)
        elif way == "queue":
            x = self.own_thing(queue.Queue())
            self.put(d, "ready()")
            self.put(d, f"{x}.get()")
        elif way == "own condition":
            x = self.own_thing(threading.Event())
            self.put(d, "ready()")
            self.put(d, f"{x}.wait()")
        elif way == "loop":
            self.put(d, "ready()")
            self.put(d, "while not OPEN(): GATE.wait()")
        else:
            self.put(d, "ready()")
            self.put(d, {"select": "select.select([PIPE], [], [])", "event": "GATE.wait()"}.get(way, R.choice(
                ["os.read(PIPE, 1)", "nothing(1, os.read(PIPE, 1))", "x = [os.read(PIPE, 1)]"])))

    def own_thing(self, thing):
        self.own.append(thing)
        return f"OWN[{len(self.own) - 1}]"

    def wait_condition(self, d):
        """It waits in a condition, whose lock it has let go meanwhile; that of an outer `with` too."""
        lock = self.free(("C",))
        if not lock:
            return self.put(d, "ready(); GATE.wait()")
        self.batch.conditions.append(eval(lock))
        self.take(lock, self.given)
        self.put(d, f"with {lock}:")
        if int(lock[2:-1]) % 2 == 0 and R.random() < 0.5:  # over an RLock
            d += 1
            self.put(d, f"with {lock}:")
        self.put(d + 1, "ready()")
        self.put(d + 1, f"{lock}.wait_for(OPEN)")


async def later(f):
    f(1)


def program(number, batch):
    """One that compiles: Python allows 20 blocks within one another in a function."""
    lists = (batch.used, batch.held, batch.lent, batch.conditions)
    before = [x.copy() for x in lists]
    while True:
        w = Writer(number, batch)
        w.block(1, R.randrange(1, 9))
        source = "def program(ready):\n" + "\n".join(w.lines) + "\n"
        try:
            compile(source, "program", "exec")
            return w, source
        except SyntaxError as e:
            if "nested" not in str(e):
                sys.exit(f"{e}\n{source}")
        for x, old in zip(lists, before):
            x.clear()
            (x.update if isinstance(x, set) else x.extend)(old)


class Runner(threading.Thread):
    """Runs one program after another."""

    def __init__(self):
        super().__init__(daemon=True)
        self.todo, self.done, self.failed = queue.Queue(), queue.Queue(), None
        self.start()

    def says(self):
        try:
            return self.done.get(timeout=30)
        except queue.Empty:
            faulthandler.dump_traceback()
            return "nothing; where all threads are was written to stderr"

    def run(self):
        while True:
            number, source, space = self.todo.get()
            try:
                exec(compile(source, f"program{number}.py", "exec"), space)
                first = []

                def ready():
                    if not first:
                        first.append(self.done.put("stands"))
                space["program"](ready)
                self.done.put("ended")
            except BaseException as e:
                self.failed = e
                self.done.put(repr(e))
            space = source = ready = None


def batch_run(runners, begin):
    """Writes and starts one program after another; each stands still before the next is written."""
    batch, truth = Batch(), {}
    for i, runner in enumerate(runners):
        w, source = program(begin + i, batch)
        space = dict(globals(), PIPE=batch.pipe[0], GATE=batch.gate, OPEN=batch.open, OWN=w.own)
        batch.own += w.own
        runner.todo.put((begin + i, source, space))
        said = runner.says()
        if said != "stands":
            sys.exit(f"a program did not come to its wait: {said}\n{source}")
        truth[runner.native_id] = {"need": [address(x) for x in w.need], "may": [address(x) for x in w.may],
                                   "given": [address(x) for x in w.given], "source": source}
    return batch, truth


def main():
    runners = [Runner() for _ in range(THREADS)]
    begin = 0
    for line in sys.stdin:
        batch, truth = batch_run(runners, begin)
        begin += THREADS
        print(json.dumps(truth), flush=True)
        if not sys.stdin.readline():
            break
        batch.let_go()
        for r in runners:
            said = r.says()
            if said != "ended":
                sys.exit(f"a program failed: {said}\n{truth[r.native_id]['source']}")
        batch.end()
        print("{}", flush=True)


if __name__ == "__main__":
    main()
