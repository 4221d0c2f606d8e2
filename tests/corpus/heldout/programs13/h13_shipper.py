"""The programs of h13_shipper.sh. The collector answers until it has to turn its file over, and then waits for a
thread that would do it, and does not run: the shipper waits for its answer, rank 0 for room in the pipe to the
shipper, rank 1 for rank 0. "slow": it turns its file over in 45 s."""
import http.server
import os
import sys
import threading
import time
import urllib.request

from kit13 import SLOW, Hub, appear, crunch, me


class Collector(http.server.BaseHTTPRequestHandler):
    count, turned = 0, threading.Event()

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Collector.count += 1
        if Collector.count == 30:
            if SLOW:
                time.sleep(45)
            else:
                self.turned.wait()
        self.send_response(204)
        self.end_headers()


def collector():
    me("collector")
    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    with open("port", "w") as f:
        print(server.server_port, file=f)
    threading.Thread(target=server.serve_forever).start()
    while not os.path.exists("shipped"):
        time.sleep(2)
    server.shutdown()


def ship():
    me("shipper")
    url, count = "http://127.0.0.1:%s/lines" % appear("port")[0], 0
    while True:
        data = os.read(0, 4096)
        if not data:
            break
        count += 1
        urllib.request.urlopen(urllib.request.Request(url, data)).close()
        if count % 10 == 0:
            print("shipped", count, file=sys.stderr, flush=True)
    open("shipped", "w").close()


def train():
    rank = int(os.environ["RANK"])
    me("rank%d" % rank)
    hub = Hub(rank, 2, int(os.environ["MASTER_PORT"]))
    for step in range(100):
        crunch(0.08)
        hub.reduce(step)
        if rank == 0:
            print("step %d grads %s" % (step, " ".join("%.5f" % (k / 300) for k in range(400))), flush=True)


if __name__ == "__main__":
    {"collector": collector, "ship": ship, "train": train}[sys.argv[1]]()
