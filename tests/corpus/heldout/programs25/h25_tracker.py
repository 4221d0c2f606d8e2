"""A training writes its metrics and histograms to a tracker of its own, by a pipe, as dashboards' clients do. The tracker
sends them to a service, which takes a request and does not answer it; the pipe is full in the end.

slow: the service answers after 75 s."""
import json
import subprocess
import sys
import time

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, dial, free_port, listen, receive, role, send, start


def service(port):
    end, n = listen(port).accept()[0], 0
    while True:
        receive(end)
        n += 1
        if n == STALL - 20:
            time.sleep(75 if SLOW else 1e6)
        send(end, "ok")


def track(port):
    end = dial(port)
    for line in sys.stdin:
        send(end, line)
        receive(end)


def train():
    role("main")
    port = str(free_port())
    start(OWN + ["service", port] + sys.argv[1:], "service")
    tracker = start(OWN + ["track", port], "tracker", stdin=subprocess.PIPE, text=True, bufsize=1)
    model, log = Model(), Log("bar", "train")
    for step in range(STEPS):
        model.step(model.backward())
        log(step, model.loss)
        tracker.stdin.write(json.dumps({"step": step, "loss": model.loss, "histogram": [step] * 1500}) + "\n")
    tracker.stdin.close()
    tracker.wait()


if "service" in sys.argv:
    service(int(sys.argv[2]))
elif "track" in sys.argv:
    track(int(sys.argv[2]))
else:
    train()
