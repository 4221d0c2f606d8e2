"""A driver with two actors that do one call at a time: a learner, which asks the buffer for samples in a train step, and a
buffer, which asks the learner for priorities in a refresh. Both were called at once, each waits for the other's answer.

slow: the refresh comes behind the train step, and takes 48 s."""
import multiprocessing
from multiprocessing.connection import wait

from kit21 import SLOW, STEPS, busy, crunch, role, told, with_parent


def train(other):
    crunch(0.3)
    return sum(ask(other, "sample"))


def refresh(other):
    crunch(0.1)
    if SLOW:
        busy(48)
    return ask(other, "priorities")


def sample(other):
    return [0.1] * 8


def priorities(other):
    return [1.0] * 8


def ask(end, name):
    end.send(name)
    return end.recv()


def actor(name, calls, callers, other, ends):
    with_parent()
    role(name)
    for end in ends:
        if end is not other and end not in callers:
            end.close()
    while True:
        for end in wait(callers):
            end.send(calls[end.recv()](other))


def drive():
    context = multiprocessing.get_context("fork")
    pairs = [context.Pipe() for _ in range(4)]
    (learner, l_main), (buffer, b_main), (l_asks, b_hears), (b_asks, l_hears) = pairs
    ends = [end for pair in pairs for end in pair]
    for name, calls, callers, other in (("learner", {"train": train, "priorities": priorities}, [l_main, l_hears], l_asks),
                                        ("buffer", {"sample": sample, "refresh": refresh}, [b_main, b_hears], b_asks)):
        context.Process(target=actor, args=(name, calls, callers, other, ends), name=name, daemon=True).start()
    for end in ends:
        if end not in (learner, buffer):
            end.close()
    for step in range(STEPS):
        learner.send("train")
        if step == 30 and not SLOW:
            buffer.send("refresh")
        learner.recv()
        told(step)
        if step == 30:
            ask(buffer, "refresh") if SLOW else buffer.recv()


role("main")
drive()
