"""Training is done. What is still to be told to a dashboard over ZeroMQ is told when the dashboard is back, after 60 s."""
import sys
import time

import zmq

import kit9


def dashboard(port, pause):
    time.sleep(pause)
    link = zmq.Context().socket(zmq.PULL)
    link.bind("tcp://127.0.0.1:%d" % port)
    while link.recv_json()["step"] < 29:
        pass


if sys.argv[1:2] == ["dashboard"]:
    dashboard(int(sys.argv[2]), int(sys.argv[3]))
    sys.exit(0)
kit9.role("main")
port = kit9.free_port()
kit9.start([sys.executable, sys.argv[0], "dashboard", str(port), "66"], "dashboard")
context = zmq.Context()
link = context.socket(zmq.PUSH)
link.connect("tcp://127.0.0.1:%d" % port)
link.setsockopt(zmq.IMMEDIATE, 0)
for s in range(30):
    kit9.crunch(0.2)
    kit9.step(0, s, 30)
    link.send_json({"step": s})
print("finished, sending what is left", flush=True)
link.close()
context.term()
print("bye", flush=True)
