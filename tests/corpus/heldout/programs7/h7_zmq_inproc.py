"""A thread collates for main over a pair of inproc sockets of ZeroMQ. It has failed over a sample, was told in the log, and is gone."""
import threading

import zmq

import kit7


def collate(context, log):
    pair = context.socket(zmq.PAIR)
    pair.connect("inproc://collate")
    try:
        for n in range(10**6):
            pair.recv()
            if n == 22:
                raise KeyError("pixel_values")
            kit7.crunch(0.1)
            pair.send(b"batch")
    except KeyError as error:
        log.error("collate: %r, worker leaves", error)


kit7.role("main")
log, context = kit7.logger(path="train.log"), zmq.Context()
pair = context.socket(zmq.PAIR)
pair.bind("inproc://collate")
threading.Thread(target=collate, args=(context, log), daemon=True).start()
for step in range(1000):
    pair.send(b"indices")
    pair.recv()
    kit7.crunch(0.1)
    log.info("step %d/1000 loss %.4f", step, 2 / (step + 1))
