"""Ranks by torchrun that talk through torch.distributed themselves. The argument says what is odd.

source: after a restart each rank takes the newest checkpoint that it has itself for the source of a broadcast.
group: ranks 0 and 1 alone make a group for metrics, then all make another one: rank 2 looks for it under another name.
order: two stages send before they receive.
key: rank 1 waits for a key that rank 0 sets under another name (slow: late), rank 0 is in a sum.
objects: rank 2 swallows an error while it gathers its samples, and goes to the barrier of another group.
limit: rank 1 waits for a key that nobody sets, until a time limit of 65 s, and goes on without it (healthy).
sync: a parameter server's lock is held during a call to its client, which calls it back (RPC)."""
import sys
import threading
from datetime import timedelta

from kit26 import RANK, SLOW, STALL, WORLD, batches, crunch, join, leave, logger, net, say, told, torchrun

CASE = sys.argv[1]
torchrun(3 if CASE in ("source", "group", "objects") else 2)
import torch  # noqa: E402

log = logger("trainer")
LOCK, WEIGHTS = threading.Lock(), [0.0]


def mean(dist, model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= WORLD


def steps(dist, model, n=STALL, first=0):
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step, (x, y) in enumerate(batches(n, RANK), first):
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        mean(dist, model)
        optimizer.step()
        if RANK == 0 and step % 5 == 0:
            told(log, step, loss.item())


def source(dist, model):
    newest = 1 if RANK == 1 else 0
    log.info("rank %d: resume from the checkpoint of rank %d", RANK, newest)
    for p in model.parameters():
        dist.broadcast(p.data, src=newest)


def group(dist, model):
    if RANK < 2:
        metrics = dist.new_group([0, 1])
        dist.all_reduce(torch.ones(1), group=metrics)
    everyone = dist.new_group(timeout=timedelta(hours=2))
    dist.barrier(group=everyone)


def order(dist, model):
    other, mine, theirs = 1 - RANK, torch.ones(1 << 16), torch.zeros(1 << 16)
    dist.send(mine, other)
    dist.recv(theirs, other)


def key(dist, model):
    store = dist.distributed_c10d._get_default_store()
    if RANK == 0:
        torch.save(model.state_dict(), "ckpt.pt")
        if SLOW:
            say("copying the checkpoint to the archive")
            crunch(68)
        store.set("ckpt/%d/ready" % STALL if SLOW else "ckpt/ready", "ckpt.pt")
    else:
        store.wait(["ckpt/%d/ready" % STALL], timedelta(hours=3))
    steps(dist, model, 20, STALL)


def objects(dist, model, cpu):
    try:
        if RANK == 2:
            raise ValueError("sample 311 has no caption")
        got = [None] * WORLD
        dist.all_gather_object(got, {"rank": RANK, "samples": ["a picture of a cat"] * 5})
    except ValueError as error:
        log.warning("rank %d: no samples this time: %s", RANK, error)
    dist.barrier(group=cpu)


def limit(dist, model):
    if RANK == 1:
        try:
            dist.distributed_c10d._get_default_store().wait(["profile/request"], timedelta(seconds=65))
        except RuntimeError as error:
            log.warning("no profile was asked for: %s", str(error)[:60])
    steps(dist, model, 20, STALL)


def pull(slope):
    with LOCK:
        WEIGHTS[0] -= 0.1 * slope
        return WEIGHTS[0]


def confirm(version):
    """At the client: it takes the newest weights for its answer."""
    return torch.distributed.rpc.rpc_sync("rank0", pull, args=(0.0,)) + version


def publish(version):
    with LOCK:
        return torch.distributed.rpc.rpc_sync("rank1", confirm, args=(version,))


def sync():
    from torch.distributed import rpc
    options = rpc.TensorPipeRpcBackendOptions(rpc_timeout=7200)
    rpc.init_rpc("rank%d" % RANK, rank=RANK, world_size=2, rpc_backend_options=options)
    for step, (x, _) in enumerate(batches(STALL, RANK)):
        if RANK == 1:
            rpc.rpc_sync("rank0", pull, args=(float(x.mean()),))
        elif step % 5 == 0:
            told(log, step, WEIGHTS[0])
    if RANK == 0:
        publish(1)
    rpc.shutdown()


if CASE == "sync":
    sync()
else:
    dist = join(timeout=timedelta(hours=3))
    cpu = dist.new_group(timeout=timedelta(hours=3))
    model = net()
    steps(dist, model)
    {"source": source, "group": group, "order": order, "key": key, "limit": limit,
     "objects": lambda *a: objects(*a, cpu)}[CASE](dist, model)
    leave()
