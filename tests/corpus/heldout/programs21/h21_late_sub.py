"""Two ranks. For each stage rank 0 publishes the settings by ZeroMQ, on a socket of its own. In the second stage rank 1
is late by some clean-up, and subscribes when they have been sent already. It waits for them, rank 0 for its gradient.

slow: rank 0 publishes again when rank 1 is there; rank 1 cleans up for 48 s."""
import time

import zmq

from kit21 import SLOW, STEPS, Hub, busy, crunch, main, told

CONTEXT = zmq.Context()


def publish(hub, stage):
    door = CONTEXT.socket(zmq.PUB)
    door.bind("ipc://settings%d" % stage)
    time.sleep(1)
    if SLOW and stage:
        hub.mean("there", 1)
        time.sleep(0.5)
    door.send_pyobj({"stage": stage, "lr": 0.1 / (1 + stage)})
    return door


def subscribe(hub, stage):
    if stage:
        busy(48 if SLOW else 2)
    end = CONTEXT.socket(zmq.SUB)
    end.setsockopt(zmq.SUBSCRIBE, b"")
    end.connect("ipc://settings%d" % stage)
    if SLOW and stage:
        hub.mean("there", 1)
    return end


def receive_settings(end):
    return end.recv_pyobj()


def body(rank, world, port):
    hub, kept = Hub(rank, world, port), []
    for step in range(STEPS):
        if step % 40 == 0 and step < 80:
            kept.append((publish if rank == 0 else subscribe)(hub, step // 40))
            if rank:
                receive_settings(kept[-1])
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(2, body)
