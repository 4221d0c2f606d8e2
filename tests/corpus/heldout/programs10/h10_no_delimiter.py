"""A service answers by a ZeroMQ REP socket. Rank 1 asks by a DEALER and leaves out the empty frame before its question: the service's socket
drops it without a word."""
import os

import zmq

import kit10


def service(port):
    s = zmq.Context().socket(zmq.REP)
    s.bind("tcp://127.0.0.1:%d" % port)
    while True:
        s.send(b"shard of " + s.recv())


def body(rank, n, port):
    if rank == 0:
        kit10.start([os.sys.executable, os.path.abspath(__file__), "service", str(port + 4)], "service")
    hub = kit10.Hub(rank, n, port)
    s = zmq.Context().socket(zmq.REQ if rank == 0 else zmq.DEALER)
    s.connect("tcp://127.0.0.1:%d" % (port + 4))
    for k in range(20):
        kit10.crunch(0.1)
        if rank and k < 8:
            s.send_multipart([b"", b"rank %d" % rank])
        else:
            s.send(b"rank %d" % rank)
        s.recv_multipart()
        kit10.log(rank, k, samples=hub.reduce(64))


if "service" in os.sys.argv:
    service(int(os.sys.argv[2]))
else:
    kit10.main(2, body)
