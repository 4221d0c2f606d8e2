"""Holds variables of every kind in a function, prints ready, and ends when stdin does. Runs on every Python from 3.8 on."""
import collections
import sys

Point = collections.namedtuple("Point", "x y")


class Meta:
    def __init__(self):
        self.a = 1
        self.b = "two"


def inner(a, b=2, *rest, key="v", **kw):
    nothing, yes, small, big, huge = None, True, -5, 10 ** 18, 1 << 200
    tenth, large, tiny, endless = 0.1, 1e16, -2.5e-7, float("inf")
    text, wide, long, raw = "h\u00e9llo\n'", "\U0001f600 \u4e2d", "x" * 200, b"by\0tes\xff"
    one, empty, nest, many = (1,), (), [1, [2, [3, [4, [5]]]]], list(range(100))
    d, s, fs, point = {"k": {"d": [1]}, 5: None}, {7}, frozenset({"q"}), Point(1, "z")
    ordered, split, circle = collections.OrderedDict(a=1), Meta().__dict__, []
    circle.append(circle)
    plain, cls = object(), Meta
    half = "\ud800"
    big_dict, big_set = {i: i * i for i in range(1000)}, set(range(500))
    gone = 1
    del gone
    removed = {i: i for i in range(8)}
    del removed[0]

    def closure():
        return a, small
    print("ready", flush=True)
    sys.stdin.read()  # held
    return locals()


class C:
    def method(self):
        return inner(1, key="w", more=3)


C().method()
