"""Samples come over HTTP, by a worker of each rank's loader. The server has taken the request of rank 2's for shard 9
and does not answer."""
import http.server
import os
import sys
import threading
import time
import urllib.request

from kit12 import free_port, join_group, role, torchrun


def serve(port, job):
    """A server that is no part of the job, and ends after it."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/train/shard-2-9":
                threading.Event().wait()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(os.urandom(2048))

        def log_message(self, *words):
            pass

    def watch():
        while os.path.exists(f"/proc/{job}"):
            time.sleep(0.5)
        os._exit(0)
    threading.Thread(target=watch, daemon=True).start()
    role("server")
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def body(rank, n):
    import numpy
    import torch
    from torch.utils.data import DataLoader, Dataset

    from kit12 import helper, train_step, trainer

    class Remote(Dataset):
        def __len__(self):
            return 40

        def __getitem__(self, i):
            url = f"http://127.0.0.1:{os.environ['DATA_PORT']}/train/shard-{rank}-{i}"
            raw = numpy.frombuffer(urllib.request.urlopen(url).read(), dtype=numpy.uint8)
            return torch.from_numpy(raw.astype("float32") / 255)

    dist = join_group(rank, n)
    model, optimizer = trainer()
    loader = DataLoader(Remote(), batch_size=1, num_workers=1, prefetch_factor=2,
                        worker_init_fn=lambda i: helper(f"loader{rank}"))
    for i, row in enumerate(loader):
        loss = train_step(model, optimizer, row[0].view(-1, 16), torch.ones(128, 1), pause=0.4)
        if rank == 0:
            print(f"shard {i} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:
        os.environ["DATA_PORT"] = str(free_port())
        job = os.getpid()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                serve(int(os.environ["DATA_PORT"]), job)
            os._exit(0)
        os.wait()
        sys.stdout.flush()
    torchrun(3, body)
