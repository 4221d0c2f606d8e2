"""ZeroMQ: a supervisor replaced the scorer while it had a request; who asked waits for an answer that the new one does not know of."""
import signal
import sys
import threading
import time

import zmq

import kit5


def serve(port):
    s = zmq.Context().socket(zmq.REP)
    s.bind("tcp://127.0.0.1:%s" % port)
    while True:
        n = s.recv_json()
        kit5.crunch(0.2 if n < 10 else 5)
        s.send_json(n / 2)


def supervise(port, state, replaced):
    while state["asked"] < 10:
        time.sleep(0.1)
    time.sleep(1)
    state["scorer"].send_signal(signal.SIGKILL)  # too slow
    state["scorer"].wait()
    state["scorer"] = kit5.start([sys.executable, __file__, port], "scorer2")
    replaced.set()
    state["scorer"].wait()


def main():
    kit5.role("main")
    port = str(kit5.free_port())
    state = {"asked": -1, "scorer": kit5.start([sys.executable, __file__, port], "scorer1")}
    replaced = threading.Event()
    threading.Thread(target=supervise, args=(port, state, replaced)).start()
    s = zmq.Context().socket(zmq.REQ)
    s.connect("tcp://127.0.0.1:" + port)
    for n in range(100):
        state["asked"] = n
        s.send_json(n)
        if n == 10:
            replaced.wait()
        print("score", n, s.recv_json(), flush=True)


serve(sys.argv[1]) if sys.argv[1:] else main()
