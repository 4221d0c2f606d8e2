"""Tokenizing by PUSH and PULL: a ventilator sends 90 documents to three workers, and main takes 90 results. A
worker meets a document that it cannot read, logs it and takes the next one. Main waits for one more."""
import multiprocessing
import time

import zmq
from kit15 import free_port, me, role, told


def ventilate(port):
    me("ventilator")
    out = zmq.Context().socket(zmq.PUSH)
    out.bind("tcp://127.0.0.1:%d" % port)
    time.sleep(2)
    for k in range(90):
        time.sleep(0.1)
        out.send_json({"document": k, "text": "x" * 200 if k != 77 else None})
    time.sleep(100000)


def work(n, port, results):
    me("worker%d" % n)
    context = zmq.Context()
    tasks, sink = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    tasks.connect("tcp://127.0.0.1:%d" % port)
    sink.connect("tcp://127.0.0.1:%d" % results)
    while True:
        task = tasks.recv_json()
        time.sleep(0.1)
        try:
            sink.send_json({"document": task["document"], "tokens": len(task["text"].split())})
        except AttributeError as e:
            print("worker %d: document %d: %s" % (n, task["document"], e), flush=True)


def collect(sink):
    for k in range(90):
        sink.recv_json()
        told(k)


if __name__ == "__main__":
    role("main")
    context = zmq.Context()
    sink = context.socket(zmq.PULL)
    results = sink.bind_to_random_port("tcp://127.0.0.1")
    port = free_port()
    fork = multiprocessing.get_context("spawn")
    procs = [fork.Process(target=work, args=(n, port, results), daemon=True) for n in range(3)]
    procs.append(fork.Process(target=ventilate, args=(port,), daemon=True))
    for p in procs:
        p.start()
    collect(sink)
    print("tokenized 90 documents", flush=True)
