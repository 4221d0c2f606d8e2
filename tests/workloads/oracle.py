#!/usr/bin/python3
"""Knows its own stack: whoever looks from outside can be told to be wrong.

    oracle.py KIND [NUMBER]

Functions are called o_COLOUR_POSITION. In any true stack all of them have one colour ("any" goes with each), their
positions count 0, 1, 2, ... from the outside in, and each that has called another is on its line "# call". The chains
take turns in a hot loop that does nothing but call and return. Runs on CPython 3.8 and later; prints "ready" once.

    colour      chains of different functions, depths and frame sizes
    shared      coloured root and leaf over the same middle functions
    crosser     NUMBER (140) frames deep, going up and down across the end of a piece of the data stack
    generators  generators in generators, kept and thrown away, and awaiting coroutines
    callbacks   through C: max(key=), map(), sorted(key=)
    threads     NUMBER (4) threads of the kind colour
    steady      NUMBER (50) frames, the innermost in a loop without calls
    sleeping    NUMBER (50) frames, the innermost asleep
    naps        two chains of different colours take turns, each sleeps for a millisecond at its end
"""
import sys
import threading
import time

COLOURS = {"red": 6, "blue": 13, "green": 24, "black": 9}


def define(name, body, args="x"):
    """A function whose second line is the call; all have frames of different sizes."""
    scope = {}
    exec(compile(f"def {name}({args}):\n" + "\n".join("    " + line for line in body) + "\n", "oracle", "exec"),
         NAMES, scope)
    NAMES[name] = scope[name]
    return scope[name]


NAMES = {"sleep": time.sleep, "ready": lambda: print("ready", flush=True), "__builtins__": __builtins__}


def padding(n):
    return "a = " + "".join(f"b{i} = " for i in range(n % 23)) + "x"


def chain(colour, depth, seed, last=("return x",)):
    for i in reversed(range(depth)):
        body = [padding(i * 7 + seed), f"a = o_{colour}_{i + 1}(x) # call", "return a"]
        define(f"o_{colour}_{i}", body if i + 1 < depth else [padding(i * 5 + seed), *last])
    return NAMES[f"o_{colour}_0"]


def colour_roots():
    return [chain(c, depth, seed * 3) for seed, (c, depth) in enumerate(COLOURS.items())]


def shared_roots(middle=14):
    roots = []
    for i in range(1, middle + 1):
        call = f"o_any_{i + 1}(x, leaf)" if i < middle else "leaf(x)"
        define(f"o_any_{i}", [padding(i * 3), f"a = {call} # call", "return a"], "x, leaf")
    for seed, colour in enumerate(COLOURS):
        define(f"o_{colour}_{middle + 1}", [padding(seed), "return x"])
        roots.append(define(f"o_{colour}_0", [padding(seed * 5), f"a = o_any_1(x, o_{colour}_{middle + 1}) # call",
                                              "return a"]))
    return roots


def crosser_roots(deepest):
    """Like colour, but the chains end at depths around the place where a new piece begins."""
    for i in range(deepest):
        define(f"o_any_{i}", [padding(i), f"a = NAMES[i + 1](x, end, i + 1) if i < end else x # call", "return a"],
               "x, end, i")
    NAMES["NAMES"] = [NAMES[f"o_any_{i}"] for i in range(deepest)]
    first = NAMES["o_any_0"]
    # Deep and shallow in turn, and single steps everywhere in between.
    return [lambda x, end=end: first(x, end, 0) for end in range(20, deepest - 1)]


def generator_roots():
    roots = []
    for seed, (colour, depth) in enumerate(COLOURS.items()):
        for i in reversed(range(1, depth)):
            define(f"o_{colour}_{i}", [padding(i + seed), f"for b in o_{colour}_{i + 1}(x): # call", "    yield b"]
                   if i + 1 < depth else [padding(i), "while x:", "    yield x", "    x = x - 1"])
        define(f"o_{colour}_0", [padding(seed), f"for b in o_{colour}_1(2): # call", "    a = b", "return a"])
        roots.append(NAMES[f"o_{colour}_0"])
    kept = []
    for seed, colour in enumerate(COLOURS):
        name = f"o_{colour}kept"
        define(f"{name}_2", ["a = x", "while True:", "    yield x"])
        define(f"{name}_1", ["for a in g:", "    yield a"], "g")
        generator = NAMES[f"{name}_1"](NAMES[f"{name}_2"](1))
        kept.append(define(f"{name}_0", [padding(seed), "a = next(x)", "return a"]))
        roots.append(lambda x, f=kept[-1], g=generator: f(g))
    for seed, colour in enumerate(("gold", "pink")):
        define(f"o_{colour}_5", ["a = x", "return a"])
        for i in range(1, 5):
            scope = {}
            exec(f"async def o_{colour}_{i}(x):\n    a = x\n    a = " + ("await " if i < 4 else "") +
                 f"o_{colour}_{i + 1}(x) # call\n    return a\n", NAMES, scope)
            NAMES.update(scope)
        define(f"o_{colour}_0", ["try:", f"    o_{colour}_1(x).send(None)", "except StopIteration:", "    return x"])
        roots.append(NAMES[f"o_{colour}_0"])
    return roots


def callback_roots():
    roots = []
    calls = ("max((x, x), key={})", "list(map({}, (x,)))[0]", "sorted((x, x), key={})[0]")
    for seed, (colour, depth) in enumerate(COLOURS.items()):
        for i in reversed(range(depth)):
            through = calls[i % 3].format(f"o_{colour}_{i + 1}") if i % 4 == 0 else f"o_{colour}_{i + 1}(x)"
            body = [padding(i * 7 + seed), f"a = {through} # call", "return a"]
            define(f"o_{colour}_{i}", body if i + 1 < depth else [padding(i), "return x"])
        roots.append(NAMES[f"o_{colour}_0"])
    return roots


def nap_roots():
    return [chain(colour, depth, 1, ("sleep(0.001)",)) for colour, depth in list(COLOURS.items())[:2]]


def take_turns(roots):
    while True:
        for root in roots:
            root(1)


def drive(roots):
    while True:
        for root in roots:
            root(1)
        for root in roots:
            for _ in range(3):
                root(1)


def main(kind, number):
    if kind in ("steady", "sleeping"):
        last = "sleep(3600)" if kind == "sleeping" else "while x: x = 1"
        chain("red", number or 50, 1, ("ready()", last))(1)
    sys.setrecursionlimit(10000)
    roots = {"colour": colour_roots, "shared": shared_roots, "generators": generator_roots, "threads": colour_roots,
             "callbacks": callback_roots, "crosser": lambda: crosser_roots(number or 140), "naps": nap_roots}[kind]()
    if kind == "threads":
        for _ in range((number or 4) - 1):
            threading.Thread(target=drive, args=(roots,), daemon=True).start()
    print("ready", flush=True)
    (take_turns if kind == "naps" else drive)(roots)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
