"""ZeroMQ: a reply takes 66 s, the one that asked waits in recv()."""
import sys

import zmq

import kit5


def serve(port):
    s = zmq.Context().socket(zmq.REP)
    s.bind("tcp://127.0.0.1:%s" % port)
    while True:
        seconds = s.recv_json()
        kit5.compute(seconds)
        s.send_json({"ok": seconds})


def main():
    kit5.role("main")
    port = kit5.free_port()
    kit5.start([sys.executable, __file__, str(port)], "solver")
    s = zmq.Context().socket(zmq.REQ)
    s.connect("tcp://127.0.0.1:%d" % port)
    for n in range(8):
        s.send_json(66 if n == 4 else 0.2)
        print("solved", n, s.recv_json(), flush=True)


serve(sys.argv[1]) if sys.argv[1:] else main()
