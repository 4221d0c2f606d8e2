"""A worker decodes clips for a trainer. What fails is put back in front, to be tried again, as the storage is sometimes
slow. One clip is broken and fails each time, which is told in a log of debugging only; the trainer waits for its frames."""
import collections
import logging
import multiprocessing
import time

from kit18 import crunch, role, told, with_parent

log = logging.getLogger("decode")


def decode(clip):
    crunch(0.1)
    if clip == 45:
        raise ValueError("no key frame in clip %d" % clip)
    return [clip] * 100


def work(pipe):
    with_parent()
    role("worker")
    tasks = collections.deque(range(400))
    while tasks:
        clip = tasks.popleft()
        try:
            pipe.send(decode(clip))
        except ValueError as error:
            log.debug("clip %d again: %s", clip, error)
            tasks.appendleft(clip)
            time.sleep(0.5)


def train(pipe):
    for step in range(400):
        pipe.recv()
        crunch(0.15)
        told(step)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    role("main")
    ours, theirs = context.Pipe(duplex=False)
    context.Process(target=work, args=(theirs,), name="worker", daemon=True).start()
    theirs.close()
    train(ours)
