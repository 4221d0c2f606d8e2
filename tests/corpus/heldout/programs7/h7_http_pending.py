"""Asks a server of jobs by HTTP each second whether its evaluation is done. The server's thread that runs them has failed; it says "queued"."""
import http.server
import queue
import sys
import threading
import time

import kit7

todo, states = queue.Queue(), {}


class Jobs(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.rpartition("/")[2]
        if name not in states:
            states[name] = "queued"
            todo.put(name)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(states[name].encode())

    def log_message(self, *words):
        pass


def run_jobs():
    try:
        for name in iter(todo.get, None):
            kit7.crunch(0.3)
            states[name] = "score %d" % (12 // (3 - int(name)))
    except ZeroDivisionError:
        pass


if sys.argv[1:]:
    threading.Thread(target=run_jobs, name="runner").start()
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Jobs).serve_forever()
kit7.role("main")
port = kit7.free_port()
kit7.start([sys.executable, __file__, str(port)], "server")
kit7.dial(port).close()
for epoch in range(20):
    kit7.compute(1)
    print("epoch", epoch, "trained, now evaluating", flush=True)
    answer = b""
    while not answer.startswith(b"score"):
        time.sleep(1)
        answer = kit7.http_get(port, "/eval/%d" % epoch)[1]
    print("epoch", epoch, answer.decode(), flush=True)
