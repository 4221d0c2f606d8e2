"""lockstates SEED THREADS: threads in random states of locks, queues, events and conditions; one JSON line of the truth.

Each thread runs a function that was written at random: nested blocks that take free locks, then something that blocks
for ever. The threads start one after another, so the model here knows who holds what. Then {"tid": {...}} is printed:
  owner   the thread that holds what it waits for; 0: none, or nobody can tell
  need    that it must be told: it is held by `with`, or the lock itself stores it, and nobody else is in a `with` of
          it that has given it back
  nobody  nobody else can reach what it waits for
  what    the kind, for people
and the process waits for its stdin to end."""
import concurrent.futures
import contextlib
import functools
import json
import os
import queue
import random
import sys
import threading
import time
import weakref

SEED, THREADS = int(sys.argv[1]), int(sys.argv[2])
R = random.Random(SEED)
N = max(THREADS // 3, 6)
L = [threading.Lock() for _ in range(N)]
RL = [threading.RLock() for _ in range(N // 2)]
C = [threading.Condition(threading.Lock() if i % 2 else None) for i in range(N // 2)]
ALL = {"L": L, "RL": RL, "C": C}
G = []       # what the program itself still has
state = {}   # lock: (thread, style)
given_back = set()  # locks that a thread has let go inside its `with`


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


class Later:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *a):
        return False


class Holder:
    pass


@contextlib.contextmanager
def locked(lock):
    with lock:
        yield lock


def nothing(*a):
    return None


def sleeper(thing):
    time.sleep(1e6)


def keep_in_thread(thing):
    t = threading.Thread(target=sleeper, args=(thing,), daemon=True)
    t.start()


class Writer:
    def __init__(self, number):
        self.number, self.lines, self.count = number, [], 0
        self.what = ""
        self.wait = None     # a lock's name
        self.nobody = False

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def free(self, kinds=("L", "RL", "C")):
        kind = R.choice(kinds)
        left = [i for i in range(len(ALL[kind])) if f"{kind}[{i}]" not in state]
        return f"{kind}[{R.choice(left)}]" if left else None

    def take(self, lock, style):
        state[lock] = (self.number, style)

    def block(self, depth, left):
        """Writes blocks inside one another, then what the thread waits in."""
        if left == 0:
            self.last(depth)
            return
        way = R.choice(["with", "with", "with", "with2", "withas", "for", "forlist", "while", "try", "except", "handler",
                        "acquire", "acquireif", "def", "gen", "gennext", "genlist", "comp", "lambda", "stack", "manager",
                        "suppress", "cm", "method", "async", "asyncwith", "returns", "argument", "sleepgen", "let_go",
                        "rlock2", "else", "star", "kw"])
        getattr(self, "w_" + way)(depth, left - 1)

    def w_with(self, d, n, form="with {0}:"):
        lock = self.free()
        if lock:
            self.take(lock, "with")
            self.put(d, form.format(lock, self.name()))
            self.block(d + 1, n)
        else:
            self.block(d, n)

    def w_withas(self, d, n):
        self.w_with(d, n, "with {0} as {1}:")

    def w_with2(self, d, n):
        a = self.free()
        if a:
            self.take(a, "with")
        b = self.free()
        if not a or not b:
            if a:
                del state[a]
            return self.block(d, n)
        self.take(b, "with")
        self.put(d, f"with {a}, {b}:")
        self.block(d + 1, n)

    def w_rlock2(self, d, n):
        lock = self.free(("RL",))
        if not lock:
            return self.block(d, n)
        self.take(lock, "with")
        self.put(d, f"with {lock}:")
        self.put(d + 1, f"with {lock}:")
        self.block(d + 2, n)

    def inside(self, d, n, *heads, after=()):
        for head in heads:
            self.put(d, head)
        self.block(d + 1, n)
        for line in after:
            self.put(d, line)

    def w_for(self, d, n): self.inside(d, n, "for i in range(3):")
    def w_forlist(self, d, n): self.inside(d, n, f"for {self.name()}, _ in enumerate([1, 2]):")
    def w_while(self, d, n): self.inside(d, n, "while True:")
    def w_try(self, d, n): self.inside(d, n, "try:", after=("finally:", "    nothing()"))
    def w_except(self, d, n): self.inside(d, n, "try:", after=("except ValueError as e:", "    nothing(e)"))
    def w_else(self, d, n): self.inside(d, n, "try:", "    pass", "except ValueError:", "    pass", "else:")
    def w_handler(self, d, n): self.inside(d, n, "try:", "    {}[1]", "except KeyError as e:")
    def w_suppress(self, d, n): self.inside(d, n, "with contextlib.suppress(ValueError):")
    def w_manager(self, d, n): self.inside(d, n, "with Manager() as m:")

    def w_acquire(self, d, n):
        lock = self.free()
        if lock:
            self.take(lock, "acquire")
            self.put(d, f"{lock}.acquire()")
        self.block(d, n)

    def w_acquireif(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, "acquire")
        self.inside(d, n, f"if {lock}.acquire(True, 5):")

    def function(self, d, n, head="def {0}(x, *a):", call="{0}(1)", tail=None):
        f = self.name()
        self.put(d, head.format(f))
        self.block(d + 1, n)
        if tail:
            self.put(d + 1, tail)
        self.put(d, call.format(f))

    def w_def(self, d, n): self.function(d, n)
    def w_star(self, d, n): self.function(d, n, call="{0}(*(1, 2))")
    def w_kw(self, d, n): self.function(d, n, call="{0}(x=nothing(1, 2))")
    def w_gen(self, d, n): self.function(d, n, call="for _ in {0}(1): pass", tail="yield 1")
    def w_gennext(self, d, n): self.function(d, n, call="next({0}(1))", tail="yield 1")
    def w_genlist(self, d, n): self.function(d, n, call="list({0}(1))", tail="yield 1")
    def w_comp(self, d, n): self.function(d, n, call="[{0}(y) for y in range(2)]")
    def w_lambda(self, d, n): self.function(d, n, call="(lambda: {0}(2))()")
    def w_async(self, d, n): self.function(d, n, head="async def {0}(x):", call="{0}(1).send(None)")

    def w_asyncwith(self, d, n):
        f = self.name()
        self.put(d, f"async def {f}(x):")
        self.put(d + 1, "async with Later():")
        self.block(d + 2, n)
        self.put(d, f"{f}(1).send(None)")

    def w_method(self, d, n):
        f = self.name()
        self.put(d, f"class {f}:")
        self.put(d + 1, "def go(self):")
        self.block(d + 2, n)
        self.put(d, f"{f}().go()")

    def w_stack(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, "stack")
        self.put(d, "with contextlib.ExitStack() as s:")
        self.put(d + 1, f"s.enter_context({lock})")
        self.block(d + 1, n)

    def w_cm(self, d, n):
        lock = self.free()
        if not lock:
            return self.block(d, n)
        self.take(lock, "generator")
        self.inside(d, n, f"with locked({lock}):")

    def w_sleepgen(self, d, n):
        lock = self.free()
        if lock:
            self.take(lock, "generator")
            g = self.name()
            self.put(d, f"{g} = locked({lock})")
            self.put(d, f"{g}.__enter__()")
        self.block(d, n)

    def w_returns(self, d, n):
        """A lock's __exit__ on the evaluation stack without being in a `with`."""
        lock, f = f"L[{R.randrange(N)}]", self.name()
        self.put(d, f"def {f}():")
        self.put(d + 1, "try:")
        self.put(d + 2, f"return {lock}.__exit__")
        self.put(d + 1, "finally:")
        self.block(d + 2, n)
        self.put(d, f"{f}()")

    def w_argument(self, d, n):
        self.function(d, n, call=f"nothing(L[{R.randrange(N)}].__exit__, " + "{0}(1))")

    def w_let_go(self, d, n):
        """Takes a lock by `with` and gives it back before the end, as Condition.wait does."""
        lock = self.free(("L",))
        if not lock:
            return self.block(d, n)
        given_back.add(lock)
        self.put(d, f"with {lock}:")
        self.put(d + 1, f"{lock}.release()")
        self.put(d + 1, "try:")
        self.block(d + 2, n)
        self.put(d + 1, "finally:")
        self.put(d + 2, f"{lock}.acquire()")

    def last(self, d):
        held = [k for k, (who, _) in state.items()
                if not (who == self.number and k[0] != "L")]  # its own RLock it would get
        way = R.choice(["sleep", "sleep", "lock", "lock", "lock", "lock", "own", "own", "own", "own", "shared"])
        if way == "lock" and held:
            self.wait_lock(d, R.choice(held))
        elif way == "own":
            self.wait_own(d)
        elif way == "shared":
            self.wait_shared(d)
        else:
            self.what = "sleep"
            self.put(d, "ready()")
            self.put(d, R.choice(["time.sleep(1e6)", "os.read(PIPE, 1)", "nothing(time.sleep(1e6))"]))

    def wait_lock(self, d, lock):
        self.wait = lock
        forms = ["{0}.acquire()", "with {0}: pass", "nothing(1, {0}.acquire())", "functools.partial({0}.acquire)()",
                 "[x.acquire() for x in [{0}]]", "list(map(lambda x: x.acquire(), [{0}]))", "{0}.acquire(True, 1e6)",
                 "for _ in range(2): {0}.acquire()", "{0}.__enter__()"]
        form = R.choice(forms if not lock.startswith("C") else forms[:2])
        self.what = form.format(lock)
        self.put(d, "ready()")
        self.put(d, self.what)

    def wait_shared(self, d):
        """Waits in a condition of all: it has let the lock go, so that another can take it."""
        lock = self.free(("C",))
        self.what = "shared condition"
        if not lock:
            self.put(d, "ready()")
            self.put(d, "time.sleep(1e6)")
            return
        self.put(d, f"with {lock}:")
        self.put(d + 1, "ready()")
        self.put(d + 1, f"{lock}.wait()")

    OWN = [("queue.Queue()", "{0}.get()", "not_empty"), ("queue.LifoQueue()", "{0}.get(True)", "not_empty"),
           ("threading.Event()", "{0}.wait()", "_cond"), ("queue.SimpleQueue()", "{0}.get()", None),
           ("threading.Lock()", "{0}.acquire()", None), ("threading.Lock()", "with {0}: pass", None),
           ("threading.Semaphore(0)", "{0}.acquire()", "_cond"), ("threading.Semaphore(0)", "with {0}: pass", "_cond"),
           ("threading.Barrier(2)", "{0}.wait()", "_cond"), ("concurrent.futures.Future()", "{0}.result()", "_condition"),
           ("threading.Condition()", "with {0}: {0}.wait()", "_waiters"),
           ("threading.Condition(threading.Lock())", "with {0}: {0}.wait_for(lambda: False)", "_waiters")]
    # How else the object can be reached; True: by nobody but the thread.
    LEAKS = [("", True), ("", True), ("", True), ("G.append({0})", False), ("keep_in_thread({0})", False),
             ("G.append(weakref.ref({0}))", False), ("G.append({0}.{1})", False), ("G.append([{0}])", False),
             ("G.append({0}.{2})", False), ("G.append(functools.partial({0}.{2}))", False), ("{3} = {0}", True),
             ("{3} = [{0}, {0}]", True), ("{3} = ({0},)", True), ("{3} = lambda: {0}", True), ("{3} = Holder(); {3}.x = {0}", True),
             ("{3} = Holder(); {3}.x = {0}; G.append({3})", False), ("{3} = lambda: {0}\nG.append({3})", False),
             ("{3} = Holder(); {3}.__dict__['x'] = {0}; G.append({3}.__dict__)", False),
             ("{3} = {{1: {0}}}; G.append({3})", False), ("G.append(vars({0}) if hasattr({0}, '__dict__') else {0})", False),
             ("def {3}(a={0}): pass\nG.append({3})", False), ("{3} = (x for x in [{0}])\nG.append({3})", False),
             ("G.append(iter([{0}]))", False), ("G.append(threading.Timer(1e6, {0}.{2}))", False)]

    def wait_own(self, d):
        made, wait, part = R.choice(self.OWN)
        leak, self.nobody = R.choice([k for k in self.LEAKS if part or "{1}" not in k[0]])
        x, y = self.name(), self.name()
        method = {"queue.Queue()": "put", "queue.LifoQueue()": "put", "queue.SimpleQueue()": "put",
                  "threading.Event()": "set", "threading.Barrier(2)": "abort",
                  "concurrent.futures.Future()": "set_result"}.get(made, "notify" if "Condition" in made else "release")
        self.put(d, f"{x} = {made}")
        if "threading.Lock()" == made:
            self.put(d, f"{x}.acquire()")
        for line in leak.format(x, part, method, y).split("\n") if leak else ():
            self.put(d, line)
        how = R.choice(["plain", "plain", "for", "call", "stale", "closure"])
        self.what = f"{made} {wait.format('x')} / {leak} / {how}"
        if how == "for":
            self.put(d, "for _ in range(2):")
            d += 1
        if how == "stale" and self.nobody and made == "threading.Lock()":
            self.put(d, f"{y}p = functools.partial({x}.acquire); " +
                     R.choice([f"{x}.acquire(False)", f"nothing(1, 2, {x}.acquire(False))"]))
            self.put(d, f"G.append({y}p)")
            self.nobody = False
            wait = f"{y}p()"
        for _ in range(R.randrange(3)):  # leaves references behind on the evaluation stack that count no more
            self.put(d, R.choice(["nothing({0})", "nothing(1, 2, {0})", "nothing(1, 2, 3, {0}, {0})", "[1, {0}, {0}]",
                                  "nothing(1, nothing({0}, {0}))"]).format(x))
        self.put(d, "ready()")
        if how == "call":
            self.put(d, f"def {y}f({x}):")
            self.put(d + 1, wait.format(x))
            self.put(d, f"{y}f({x})")
        elif how == "closure":
            self.put(d, f"def {y}f():")
            self.put(d + 1, wait.format(x))
            self.put(d, f"{y}f()")
        else:
            self.put(d, wait.format(x))


def start(number, writer):
    writer.block(1, R.randrange(6))
    source = "def program(ready):\n" + "\n".join(writer.lines) + "\n"
    space = dict(globals())
    exec(compile(source, f"program{number}.py", "exec"), space)
    done, tid = threading.Event(), []

    def ready():
        tid.append(threading.get_native_id())
        done.set()
    thread = threading.Thread(target=space["program"], args=(ready,), daemon=True, name=f"t{number}")
    thread.start()
    if not done.wait(20):
        sys.exit(f"a thread did not come to its wait:\n{source}")
    return tid[0], source


def main():
    writers, tids, sources = [], [], []
    for i in range(THREADS):
        w = Writer(i)
        tid, source = start(i, w)
        writers.append(w)
        tids.append(tid)
        sources.append(source)
    truth = {}
    for w, tid, source in zip(writers, tids, sources):
        owner, need = 0, False
        if w.wait:
            who, style = state[w.wait]
            owner = tids[who]
            need = (style == "with" and w.wait not in given_back) or w.wait.startswith("RL")
        truth[tid] = {"owner": owner, "need": need, "nobody": w.nobody, "what": w.what, "source": source}
    print(json.dumps(truth), flush=True)
    sys.stdin.read()


PIPE = os.pipe()[0]
if __name__ == "__main__":
    main()
