"""Each of three spawned consumers has its own queue; the end is put into those that were not empty, and the third had no work."""
import multiprocessing as mp

import kit5


def consume(q, k):
    kit5.with_parent()
    kit5.role("consumer%d" % k)
    for row in iter(q.get, None):
        kit5.crunch(0.2)
        print("consumer", k, "row", row, flush=True)


def main():
    kit5.role("main")
    context = mp.get_context("spawn")
    queues = [context.Queue() for _ in range(3)]
    procs = [context.Process(target=consume, args=(q, k)) for k, q in enumerate(queues)]
    for p in procs:
        p.start()
    used = set()
    for row in range(20):
        queues[row % 2].put(row)
        used.add(row % 2)
    for k in used:
        queues[k].put(None)
    for p in procs:
        p.join()
    print("all consumed")


if __name__ == "__main__":
    main()
