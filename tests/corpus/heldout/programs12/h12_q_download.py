"""Rank 0 downloads weights from a server that sends a few bytes a second, 50 s in all, then tells it in the store, at
which rank 1 waits."""
import datetime
import http.server
import os
import threading
import time
import urllib.request

from kit12 import batch, by_hand, free_port, join_group, train_step, trainer


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "102400")
        self.end_headers()
        for _ in range(25):
            time.sleep(2)
            self.wfile.write(bytes(4096))

    def log_message(self, *words):
        pass


def download(store, rank, port):
    if rank == 0:
        weights = urllib.request.urlopen(f"http://127.0.0.1:{port}/weights.pt").read()
        store.set("weights", str(len(weights)))
    return store.get("weights")


def body(rank, n):
    dist = join_group(rank, n)
    store = dist.distributed_c10d._get_default_store()
    store.set_timeout(datetime.timedelta(hours=2))
    model, optimizer = trainer()
    for step in range(25):
        train_step(model, optimizer, *batch())
    print(f"rank {rank} warm", flush=True)
    print(f"rank {rank} has {download(store, rank, os.environ['MIRROR'])} bytes", flush=True)
    for step in range(25):
        train_step(model, optimizer, *batch())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:
        os.environ["MIRROR"] = str(free_port())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["MIRROR"])), Mirror)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    by_hand(2, body)
