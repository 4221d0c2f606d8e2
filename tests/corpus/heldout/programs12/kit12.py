"""Helpers of the twelfth set: ranks of PyTorch by torchrun, by spawn or by hand, small models, Ray in a folder of its
own."""
import datetime
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "programs9"), os.path.join(HERE, "..", "programs4")]
import kit4  # noqa: E402
from kit4 import start, with_parent  # noqa: E402,F401
from kit9 import free_port  # noqa: E402


def role(name):
    """Here, as Ray's workers import functions by their module, and know this folder only."""
    kit4.role(name)


def torchrun(n, body):
    """body(rank, n) in n ranks of torchrun, which this process becomes."""
    if "RANK" in os.environ:
        return _rank(int(os.environ["RANK"]), n, body)
    role("launcher")
    os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(n),
                              "--master-addr", "127.0.0.1", "--master-port", str(free_port()), *sys.argv])


def by_hand(n, body, world=None):
    """n processes with RANK and WORLD_SIZE, as a script starts them; one that ends does not end the others."""
    if "RANK" in os.environ:
        return _rank(int(os.environ["RANK"]), world or n, body)
    role("launcher")
    port, procs = str(free_port()), []
    for r in range(n):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(world or n), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=port, OMP_NUM_THREADS="1", CORPUS_NOTED="1")
        procs.append(start([sys.executable, *sys.argv], "rank%d" % r, env=env))
    sys.exit(max(abs(p.wait()) for p in procs))


def spawn(n, body):
    """n processes by torch.multiprocessing.spawn."""
    import torch.multiprocessing as mp
    role("launcher")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), OMP_NUM_THREADS="1")
    mp.spawn(_rank, args=(n, body), nprocs=n)


def _rank(rank, n, body):
    import torch
    with_parent()
    if "CORPUS_NOTED" not in os.environ:
        role("rank%d" % rank)
    torch.set_num_threads(1)
    torch.manual_seed(17 + rank)
    body(rank, n)


def join_group(rank, n, **more):
    """The process group, with a timeout that nobody lives to see."""
    import torch.distributed as dist
    dist.init_process_group("gloo", rank=rank, world_size=n, timeout=datetime.timedelta(hours=2), **more)
    return dist


def net(width=48, norm=False):
    from torch import nn
    middle = [nn.BatchNorm1d(width)] if norm else []
    tail = [nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)]
    return nn.Sequential(nn.Linear(16, width), *middle, *tail)


def batch(size=32):
    import torch
    x = torch.randn(size, 16)
    return x, x[:, :3].sum(1, keepdim=True)


def trainer(model=None, ddp=True, lr=0.01, **kw):
    """A model, wrapped, and its optimizer."""
    import torch
    from torch.nn.parallel import DistributedDataParallel
    model = model or net()
    if ddp:
        model = DistributedDataParallel(model, **kw)
    return model, torch.optim.SGD(model.parameters(), lr=lr)


def train_step(model, optimizer, x, y, pause=0.15):
    import torch
    time.sleep(pause)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def helper(name):
    """Called in a worker that a rank has forked."""
    with_parent()
    role(name)


def ray_here(cpus=2, **kw):
    """Ray, started by this program alone, its files in the folder where the program was started."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_DEDUP_LOGS="0")
    import ray
    role("main")
    here = os.getcwd()
    folder = {"_temp_dir": os.path.join(here, "ray")} if len(here) < 40 else {}
    ray.init(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=80 * 2 ** 20,
             **folder, **kw)
    return ray
