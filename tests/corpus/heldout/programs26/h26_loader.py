"""Training of one process with torch.utils.data.DataLoader, whose batches come from workers. The argument says what is odd.

lock: an own cache's lock is held by a thread of the training when the workers of the second epoch are forked.
init: worker_init_fn waits for a file of an index that is written under another name (slow: late).
pipe: a worker reads a decoder's standard output to its end, and the decoder has filled its standard error.
item: one sample takes 70 s (healthy)."""
import os
import subprocess
import sys
import threading
import time

from kit26 import SLOW, crunch, fit, net, role, say, sgd

CASE = sys.argv[1]
role("main")
import torch  # noqa: E402

torch.set_num_threads(1)
CACHE = threading.Lock()
NOISY = "import sys\nsys.stderr.write('warning: frame out of order\\n' * 9000)\nsys.stdout.write('0.5 ' * 32)"
CALM = "import sys\nsys.stdout.write('0.5 ' * 32)"


class Samples(torch.utils.data.Dataset):
    def __init__(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return 480

    def __getitem__(self, k):
        time.sleep(0.01)
        if CASE == "lock":
            return self.cached(k)
        if CASE == "pipe" and k % 16 == 3:
            return self.decoded(NOISY if self.epoch and k > 200 else CALM)
        if CASE == "item" and self.epoch == 1 and k == 211:
            say("sample 211: unpacking a long recording")
            crunch(70)
        return torch.randn(32)

    def cached(self, k):
        with CACHE:
            return torch.randn(32)

    def decoded(self, program):
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        role("decoder", child.pid)
        values = child.stdout.read()
        child.wait()
        return torch.tensor([float(v) for v in values.split()])


def begin(worker):
    role("loader%d" % worker)
    name = "index.bin" if SLOW else "index-%d.bin" % worker
    while CASE == "init" and EPOCH and not os.path.exists(name):
        time.sleep(0.5)


def index():
    if CASE == "init" and EPOCH:
        if SLOW:
            crunch(66)
        open("index.bin", "wb").close()


def tidy():
    """A thread that looks through the cache for old entries, and takes long for it."""
    with CACHE:
        crunch(3)


model = net()
optimizer = sgd(model)
EPOCH = step = 0
for EPOCH in range(3):
    if EPOCH == 1:
        threading.Thread(target=tidy if CASE == "lock" else index, daemon=True).start()
        time.sleep(0.3)
    batches = torch.utils.data.DataLoader(Samples(EPOCH), batch_size=16, num_workers=2, worker_init_fn=begin)
    for x in batches:
        loss = fit(model, optimizer, x, x.sum(1, keepdim=True))
        time.sleep(0.1)
        step += 1
        if step % 5 == 0:
            say("epoch %d step %d loss %.4f" % (EPOCH, step, loss))
