"""ZeroMQ: training publishes weights at each epoch's end (PUB), an evaluator subscribes, and pushes its score back (PULL). After the fourth
epoch the evaluator is started anew with another configuration; training goes on as soon as the process is there, and its next
publication is sent before the subscription has come: a slow joiner. Training waits for a score, the evaluator for weights.

slow: the evaluator is not started anew, and takes 67 s for one score."""
import subprocess
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, busy, role, start

import zmq

EVERY = STALL // 4


def evaluator(late):
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    push.connect("ipc://scores")
    push.send_json({"ready": True})
    if late:
        busy(2)
    weights = context.socket(zmq.SUB)
    weights.setsockopt(zmq.SUBSCRIBE, b"")
    weights.connect("ipc://weights")
    if not late:
        push.send_json({"subscribed": True})
    while True:
        told = weights.recv_json()
        if told["epoch"] == "hello":
            continue
        if told["epoch"] is None:
            return
        busy(67 if SLOW and told["epoch"] == 4 else 0.5)
        push.send_json({"epoch": told["epoch"], "score": -told["weight"]})


def main():
    role("main")
    context = zmq.Context()
    publish, scores = context.socket(zmq.PUB), context.socket(zmq.PULL)
    publish.bind("ipc://weights")
    scores.bind("ipc://scores")
    child = start(OWN + sys.argv[1:] + ["evaluate"], "evaluator0", stdin=subprocess.DEVNULL)
    scores.recv_json()
    scores.recv_json()
    busy(0.5)
    model, report = Model(), Report("epoch")
    for step in range(1, STEPS + 1):
        model.update(model.gradient())
        report(step, model.loss())
        if step % EVERY:
            continue
        if step == STALL and not SLOW:
            publish.send_json({"epoch": None})
            child.wait()
            child = start(OWN + ["late", "evaluate"], "evaluator")
            scores.recv_json()
        publish.send_json({"epoch": step // EVERY, "weight": model.weight})
        score = scores.recv_json()
        print("epoch %d scored %.4f" % (score["epoch"], score["score"]), flush=True)
    publish.send_json({"epoch": None})
    child.wait()


if sys.argv[-1] == "evaluate":
    evaluator("late" in sys.argv)
else:
    main()
