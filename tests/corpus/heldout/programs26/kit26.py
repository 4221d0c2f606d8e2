"""Helpers of the twenty-sixth set: a small model that real PyTorch trains, ranks by torchrun, and a Ray of its own."""
import logging
import os
import subprocess
import sys
import time

SLOW = "slow" in sys.argv
STALL = 40
OWN = [sys.executable, "-u", os.path.abspath(sys.argv[0])]
RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(fd, b"%s %d\n" % (name.encode(), pid or os.getpid()))
        os.close(fd)


def torchrun(world, *more):
    """Becomes torchrun, if it is not one of its ranks yet."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world),
                                  *more, os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    role("rank%d" % RANK)
    import torch
    torch.set_num_threads(1)


def join(backend="gloo", **how):
    import torch.distributed as dist
    dist.init_process_group(backend, **how)
    return dist


def leave():
    import torch.distributed as dist
    dist.barrier()
    dist.destroy_process_group()


def say(*words):
    print(*words, flush=True)


def logger(name):
    logging.basicConfig(format="%(asctime)s [%(levelname)s] %(name)s: %(message)s", level=logging.INFO, stream=sys.stdout)
    return logging.getLogger(name)


def told(log, step, loss):
    log.info("step %d/%d loss %.4f", step, 4000, loss)


def crunch(seconds):
    """Arithmetic for so long."""
    end, x = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        x = sum(k * k for k in range(2000))
    return x


def batches(n, seed=0, width=32, pause=0.15):
    """n batches of a regression, each of which takes a while to come."""
    import torch
    draw = torch.Generator().manual_seed(seed)
    for _ in range(n):
        x = torch.randn(16, width, generator=draw)
        time.sleep(pause)
        yield x, x.sum(1, keepdim=True)


def net(width=32):
    import torch
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(width, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))


def fit(model, optimizer, x, y):
    """One step; the loss."""
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def sgd(model):
    import torch
    return torch.optim.SGD(model.parameters(), 1e-3)


def start(argv, name=None, **how):
    child = subprocess.Popen([str(a) for a in argv], **how)
    if name:
        role(name, child.pid)
    return child


def own_ray(cpus=2):
    """A Ray of this job alone."""
    import ray
    ray.init(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=True)
    return ray


def warm(step_of, n=STALL):
    """Steps that go well; each is told."""
    for step in range(n):
        loss = step_of(step)
        if step % 5 == 0:
            say("step %d loss %.4f" % (step, loss if loss is not None else 2.0 / (step + 1)))
        time.sleep(0.15)
