"""A pool of threads encodes the first texts in the main process. Later, two processes are forked to do so each with a
part, and use the same pool: it believes to have its threads, which a fork does not copy."""
import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor

from kit25 import STALL, STEPS, Log, crunch, role, with_parent

POOL = ThreadPoolExecutor(4)


def encode(text):
    crunch(0.05)
    return [ord(c) for c in text]


def encode_batch(step):
    return list(POOL.map(encode, ["text %d %d" % (step, k) for k in range(16)]))


def part(which, begin, results):
    with_parent()
    role("part%d" % which)
    for step in range(begin, begin + 40):
        results.put((step, encode_batch(step)))


def prepare():
    role("main")
    log = Log("json")
    for step in range(STALL):
        encode_batch(step)
        log(step, 1.0)
    context = multiprocessing.get_context("fork")
    for begin in range(STALL, STEPS, 80):
        results = context.Queue()
        parts = [context.Process(target=part, args=(k, begin + 40 * k, results)) for k in range(2)]
        for p in parts:
            p.start()
        for _ in range(80):
            log(results.get()[0], 1.0)
        for p in parts:
            p.join()


sys.exit(prepare())
