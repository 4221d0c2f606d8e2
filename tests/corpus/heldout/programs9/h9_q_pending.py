"""A task asks for a device; a node with one is started, and is there after 60 s."""
import sys
import time

import kit9


def schedule(port):
    link, _ = kit9.listen(port).accept()
    while True:
        try:
            wants, since = kit9.receive(link), time.monotonic()
        except EOFError:
            return
        if wants["gpu"]:
            print("(autoscaler) no node with gpu yet, starting one of type gpu-large", file=sys.stderr, flush=True)
        while wants["gpu"] and time.monotonic() - since < 60:
            time.sleep(0.5)
        time.sleep(0.2)
        kit9.send(link, "node-%d" % wants["gpu"])


if sys.argv[1:2] == ["schedule"]:
    schedule(int(sys.argv[2]))
    sys.exit(0)
kit9.role("main")
port = kit9.free_port()
kit9.start([sys.executable, sys.argv[0], "schedule", str(port)], "scheduler")
link = kit9.dial(port)
for k in range(30):
    kit9.send(link, {"cpu": 1, "gpu": int(k == 15)})
    print("task %d ran on %s" % (k, kit9.receive(link)), flush=True)
