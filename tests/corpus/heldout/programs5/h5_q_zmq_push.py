"""ZeroMQ: a puller takes a message each 2.5 s, pushers wait at their high-water mark; the sink prints every tenth."""
import sys
import time

import zmq

import kit5


def push(port):
    s = zmq.Context().socket(zmq.PUSH)
    s.set_hwm(2)
    s.connect("tcp://127.0.0.1:%s" % port)
    while True:
        s.send(b"x" * 2_000_000)


def main():
    kit5.role("main")
    s = zmq.Context().socket(zmq.PULL)
    s.set_hwm(2)
    port = s.bind_to_random_port("tcp://127.0.0.1")
    for k in range(2):
        kit5.start([sys.executable, __file__, str(port)], "pusher%d" % k)
    for n in range(31):
        blob = s.recv()
        time.sleep(2.5)
        if n % 10 == 0:
            print("stored", n, len(blob), flush=True)


push(sys.argv[1]) if sys.argv[1:] else main()
