"""A trainer posts its metrics to a service, each with a key, so that one which is sent twice is kept once: for a key
that is being handled, the service waits for the first one's end. A loss is nan, which its database does not take: the
first one gets 500, and its key stays as it was. The second one waits for it."""
import http.client
import http.server
import json
import math
import sys
import threading
import time

from kit19 import again, crunch, role, start, told, with_parent

handled, begun = {}, threading.Lock()


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        with begun:
            first = key not in handled
            done = handled.setdefault(key, threading.Event())
        if not first:
            done.wait()
            return self.answer(200)
        try:
            self.insert(body)
        except ValueError as error:
            print("post %s: %s" % (key, error), flush=True)
            return self.answer(500)
        done.set()
        self.answer(200)

    def insert(self, body):
        if math.isnan(body["loss"]):
            raise ValueError("nan is not allowed in column loss")

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


def post(port, key, metrics):
    for k in range(5):
        link = http.client.HTTPConnection("127.0.0.1", port)
        link.request("POST", "/metrics", json.dumps(metrics), {"Idempotency-Key": key})
        if link.getresponse().status == 200:
            return
        time.sleep(0.5 * (k + 1))


def train():
    role("main")
    process = start(again("service"), "service", stdout=-1)
    port = int(process.stdout.readline())
    for step in range(400):
        crunch(0.2)
        told(step)
        if step % 5 == 0:
            post(port, "run-3/%d" % step, {"loss": float("nan") if step == 40 else 0.4})


if "service" in sys.argv:
    with_parent()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    train()
