"""Trainers ask a broker for embeddings; its only worker process ends on an unknown token."""
import sys

import zmq

import kit4


def broker(front, back):
    c = zmq.Context()
    a, b = c.socket(zmq.ROUTER), c.socket(zmq.DEALER)
    a.bind("tcp://127.0.0.1:%s" % front)
    b.bind("tcp://127.0.0.1:%s" % back)
    zmq.proxy(a, b)


def worker(back):
    s = zmq.Context().socket(zmq.REP)
    s.connect("tcp://127.0.0.1:%s" % back)
    for n in range(40):
        k = s.recv_json()
        s.send_json([k * 0.5] * 8)
    s.close(linger=2000)
    sys.exit(0)


def train(rank, world, port):
    s = zmq.Context().socket(zmq.REQ)
    s.connect("tcp://127.0.0.1:%d" % int(kit4.os.environ["FRONT"]))
    for i in range(1000):
        s.send_json(i)
        vector = s.recv_json()
        kit4.crunch(0.2)
        if rank == 0:
            print("step %d, %d numbers" % (i, len(vector)), flush=True)


if sys.argv[1:2] == ["broker"]:
    broker(*sys.argv[2:])
if sys.argv[1:2] == ["worker"]:
    worker(sys.argv[2])
if "RANK" not in kit4.os.environ:
    front, back = kit4.free_port(), kit4.free_port()
    kit4.os.environ["FRONT"] = str(front)
    kit4.start([sys.executable, __file__, "broker", str(front), str(back)], "broker")
    kit4.start([sys.executable, __file__, "worker", str(back)], "worker")
kit4.main(3, train)
