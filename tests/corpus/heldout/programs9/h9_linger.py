"""Training is done. What was told to a dashboard over ZeroMQ, which is not there any more, is still to be sent: the context waits for it."""
import signal
import sys
import time

import zmq

import kit9


def dashboard(port):
    link = zmq.Context().socket(zmq.PULL)
    link.bind("tcp://127.0.0.1:%d" % port)
    while True:
        link.recv_json()


if sys.argv[1:2] == ["dashboard"]:
    dashboard(int(sys.argv[2]))
kit9.role("main")
port = kit9.free_port()
other = kit9.start([sys.executable, sys.argv[0], "dashboard", str(port)], "dashboard")
context = zmq.Context()
link = context.socket(zmq.PUSH)
link.connect("tcp://127.0.0.1:%d" % port)
for s in range(40):
    kit9.crunch(0.2)
    kit9.step(0, s, 40)
    if s == 25:
        other.send_signal(signal.SIGKILL)
        other.wait()
    link.send_json({"step": s, "time": time.time()})
print("finished, closing", flush=True)
link.close()
context.term()
print("bye", flush=True)
