"""Two processes score a part of the validation set each and put their rows into a queue. Main joins them
before it reads the queue: the first has more rows than the pipe takes, and does not end before they are
written."""
import multiprocessing

from kit14 import crunch, role, told, with_parent


def score(part, out):
    with_parent()
    role("scorer%d" % part)
    crunch(1 + part)
    out.put([(part, k, [0.1 * k] * 8) for k in range(4000)])


if __name__ == "__main__":
    role("main")
    context = multiprocessing.get_context("fork")
    for step in range(60):
        crunch(0.15)
        told(step)
    print("validating with 2 processes", flush=True)
    out = context.Queue()
    scorers = [context.Process(target=score, args=(part, out)) for part in range(2)]
    for p in scorers:
        p.start()
    for p in scorers:
        p.join()
    rows = [row for _ in scorers for row in out.get()]
    print("validated on", len(rows), flush=True)
