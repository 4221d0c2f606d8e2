"""A task asks for a device that no node has. The scheduler looks again twice a second, and says so every 10 s, as some do for ever."""
import sys
import time

import kit9

NODES = [{"name": "node-a", "cpu": 8, "gpu": 0}, {"name": "node-b", "cpu": 8, "gpu": 0}]


def place(wants):
    return next((n for n in NODES if n["cpu"] >= wants["cpu"] and n["gpu"] >= wants["gpu"]), None)


def schedule(port):
    link, _ = kit9.listen(port).accept()
    while True:
        wants, since = kit9.receive(link), 0
        while not place(wants):
            if since % 20 == 0:
                print("(autoscaler) Warning: no node can fulfill the request %r, pending" % wants, file=sys.stderr, flush=True)
            time.sleep(0.5)
            since += 1
        time.sleep(0.2)
        kit9.send(link, place(wants)["name"])


if sys.argv[1:2] == ["schedule"]:
    schedule(int(sys.argv[2]))
kit9.role("main")
port = kit9.free_port()
kit9.start([sys.executable, sys.argv[0], "schedule", str(port)], "scheduler")
link = kit9.dial(port)
for k in range(30):
    kit9.send(link, {"cpu": 1, "gpu": int(k == 18)})
    print("task %d ran on %s" % (k, kit9.receive(link)), flush=True)
