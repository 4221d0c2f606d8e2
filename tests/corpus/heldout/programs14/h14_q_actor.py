"""A learner takes an episode of each of three actors a round, over a queue. One episode of actor 1 is long:
50 s."""
import multiprocessing

from kit14 import crunch, role, told, with_parent


def act(k, weights, episodes):
    with_parent()
    role("actor%d" % k)
    while (version := weights.get()) is not None:
        for _ in range(500 if (k, version) == (1, 60) else 1):
            crunch(0.1)
        episodes.put((k, version))


if __name__ == "__main__":
    role("main")
    context = multiprocessing.get_context("fork")
    episodes, weights = context.Queue(), [context.SimpleQueue() for _ in range(3)]
    actors = [context.Process(target=act, args=(k, weights[k], episodes)) for k in range(3)]
    for a in actors:
        a.start()
    for version in range(80):
        for w in weights:
            w.put(version)
        for _ in actors:
            episodes.get()
        told(version)
    for w in weights:
        w.put(None)
    for a in actors:
        a.join()
