"""A ZeroMQ worker that looks for tasks every ten seconds; the next comes after a minute."""
import sys
import time

import zmq

import kit4

if sys.argv[1:2] == ["source"]:
    s = zmq.Context().socket(zmq.PUSH)
    s.connect("tcp://127.0.0.1:" + sys.argv[2])
    for wait in (1, 65):
        time.sleep(wait)
        s.send_json({"task": wait})
    s.close()
    sys.exit(0)
kit4.role("main")
s = zmq.Context().socket(zmq.PULL)
port = s.bind_to_random_port("tcp://127.0.0.1")
kit4.start([sys.executable, __file__, "source", str(port)], "source", start_new_session=True)
done = 0
while done < 2:
    if s.poll(10000):
        print("task", s.recv_json(), flush=True)
        done += 1
