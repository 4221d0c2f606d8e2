"""A service of embeddings never answers. The client waits a minute, closes its socket and asks the second one."""
import zmq

import kit10


def service(port, answers):
    s = zmq.Context().socket(zmq.REP)
    s.bind("tcp://127.0.0.1:%s" % port)
    for k in range(int(answers)):
        s.send(b"vector for " + s.recv())
    s.recv()
    import time
    time.sleep(1000)


def ask(context, ports, text):
    while True:
        s = context.socket(zmq.REQ)
        s.linger, s.rcvtimeo = 0, 60000
        s.connect("tcp://127.0.0.1:%d" % ports[0])
        s.send(text)
        try:
            return s.recv()
        except zmq.Again:
            print("port %d does not answer" % ports.pop(0), flush=True)
        finally:
            s.close()


name, words = kit10.job()
if name:
    service(*words)
else:
    kit10.role("main")
    ports = [kit10.free_port(), kit10.free_port()]
    kit10.again("first", ports[0], 25)
    kit10.again("second", ports[1], 1000)
    context = zmq.Context()
    for k in range(50):
        kit10.crunch(0.1)
        ask(context, ports, b"text %d" % k)
        print("text", k, flush=True)
