"""An inference hands out prompts by ZeroMQ's PUSH, in turns, and counts the answers of an epoch. A worker leaves after its
100th, "context length exceeded", with those that it had been given and not looked at; the sink waits for them.

slow: it does not leave, prompt 100 takes it 60 s."""
import os
import sys

import zmq

from kit25 import OWN, SLOW, STALL, STEPS, Log, busy, crunch, role, start


def work(which):
    context = zmq.Context()
    pull, push = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    pull.connect("ipc://%s/prompts" % os.getcwd())
    push.connect("ipc://%s/answers" % os.getcwd())
    n = 0
    while True:
        prompt = pull.recv()
        n += 1
        if which == 1 and n == STALL:
            if not SLOW:
                sys.exit("worker 1: context length exceeded")
            busy(60)
        crunch(0.2)
        push.send(prompt)


def infer():
    role("main")
    context = zmq.Context()
    push, pull = context.socket(zmq.PUSH), context.socket(zmq.PULL)
    push.bind("ipc://%s/prompts" % os.getcwd())
    pull.bind("ipc://%s/answers" % os.getcwd())
    for which in range(2):
        start(OWN + ["work", str(which)] + sys.argv[1:], "worker%d" % which)
    log = Log("bar", "generate")
    for begin in range(0, STEPS * 2, 16):
        for k in range(16):
            push.send(b"%d" % (begin + k))
        for k in range(16):
            pull.recv()
            if k % 2:
                log(begin // 2 + k // 2, 1.0)


if "work" in sys.argv:
    work(int(sys.argv[2]))
else:
    infer()
