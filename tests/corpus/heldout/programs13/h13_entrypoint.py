"""The two programs that h13_entrypoint.sh starts."""
import http.server
import signal
import sys
import time

from kit13 import crunch, me


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def service():
    me("service")

    def drain(*_):
        print("metrics: draining", flush=True)
        time.sleep(45)
        print("metrics: drained", flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, drain)
    server = http.server.HTTPServer(("127.0.0.1", 0), Metrics)
    try:
        server.serve_forever(poll_interval=3600)
    except KeyboardInterrupt:
        print("metrics: stopped", flush=True)


def train():
    me("rank0")
    for step in range(1, 41):
        crunch(0.15)
        print(f"\rtraining: {step}/40", end="", flush=True)
    print(flush=True)


if __name__ == "__main__":
    service() if sys.argv[1] == "service" else train()
