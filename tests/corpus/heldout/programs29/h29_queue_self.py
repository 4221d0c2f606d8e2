"""A crawl of documents before training: two processes take paths from a queue with room for six, and put what they find in a folder into
the same queue. As long as folders are flat this is well; then one comes with many entries, both put, and nobody takes.

slow: folders stay flat; one document takes 68 s to be parsed. Progress is told by main from a second queue."""
import multiprocessing
import sys

from kit29 import SLOW, STALL, STEPS, Report, busy, crunch, role, with_parent


def entries(path):
    depth, number = path
    if depth == 0:
        return []
    many = 9 if number >= STALL and not SLOW else 1
    return [(depth - 1, number * 10 + k) for k in range(many)]


def worker(index, paths, done):
    with_parent()
    role("worker%d" % index)
    while True:
        path = paths.get()
        if path is None:
            break
        crunch(0.22)
        if SLOW and path == (0, STALL * 10):
            busy(68)
        for entry in entries(path):
            paths.put(entry)
        if path[0] == 1:
            done.put(path[1])


def main():
    role("main")
    context = multiprocessing.get_context("fork")
    paths, done, report = context.Queue(6), context.Queue(), Report("bar")
    workers = [context.Process(target=worker, args=(k, paths, done)) for k in range(2)]
    for w in workers:
        w.start()
    for number in range(2):
        paths.put((1, number))
    for number in range(STEPS):
        done.get()
        report(number, 1.0)
        if number + 2 < STEPS:
            paths.put((1, number + 2))
    for _ in workers:
        paths.put(None)
    for w in workers:
        w.join()
    print("\n%d folders" % STEPS, file=sys.stderr)


main()
