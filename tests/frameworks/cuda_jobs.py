"""Jobs of PyTorch on one CUDA device: cuda_jobs.py WHAT [--steps N] [--at N] [--seconds S]

WHAT happens at step --at; until then, and where it is a healthy thing after it, steps are made and printed. Two ranks
(gloo, nccl-*) share the device: NCCL allows that from 2.30 on, with NCCL_MULTI_RANK_GPU_ENABLE=1.
"""
import argparse
import datetime
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

HELD = []


def model_of(width=1024, depth=4):
    layers = [m for _ in range(depth) for m in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers).cuda()


class Training:
    def __init__(self, width=1024, depth=4, batch=256):
        self.model, self.batch, self.width = model_of(width, depth), batch, width
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def step(self, x=None):
        x = torch.randn(self.batch, self.width, device="cuda") if x is None else x.cuda(non_blocking=True)
        loss = self.model(x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class Samples(torch.utils.data.Dataset):
    """Each sample takes milliseconds of a processor; the sample at stuck waits in a pipe that nobody writes."""

    def __init__(self, n, milliseconds=0, stuck=None, width=1024):
        self.n, self.milliseconds, self.stuck, self.width = n, milliseconds, stuck, width

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.stuck:
            path = f"/tmp/never-written-{os.getpid()}"
            os.mkfifo(path)
            open(path, "rb").read()
        end = time.perf_counter() + self.milliseconds / 1000
        x = torch.randn(self.width)
        while time.perf_counter() < end:
            x = (x * 1.0001).sin()
        return x


def say(step, steps, loss):
    print(f"step {step}/{steps} loss={loss.item():.4f}", flush=True)


def loop(a, training, until, pause=0.05):
    for step in range(1, until + 1):
        say(step, a.steps, training.step())
        time.sleep(pause)


def rest(a, training, pause=0.05):
    for step in range(a.at + 1, a.steps + 1):
        say(step, a.steps, training.step())
        time.sleep(pause)


# Hangs -----------------------------------------------------------------------------------------------------------

def spins(a):
    """A kernel that does not end; the main thread waits for its stream."""
    if a.blocking:
        import ctypes
        ctypes.CDLL("libcudart.so.13").cudaSetDeviceFlags(4)
    training = Training()
    loop(a, training, a.at)
    torch.cuda._sleep(1 << 62)
    say(a.at + 1, a.steps, training.step())


def loader_stuck(a):
    data = torch.utils.data.DataLoader(Samples(a.steps * 16, stuck=a.at * 16), batch_size=16, num_workers=2)
    training = Training()
    for step, x in enumerate(data, 1):
        say(step, a.steps, training.step(x))
        time.sleep(0.05)


def group(backend, seconds=1800):
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=seconds))
    torch.cuda.set_device(0)
    return dist.get_rank()


def fate(what):
    if what == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what == "waits":
        threading.Event().wait()
    elif what == "spins":
        torch.cuda._sleep(1 << 62)


def ranks(a):
    """gloo-WHAT, nccl-WHAT: rank 1 stops, waits, has a kernel that does not end, or leaves a collective out."""
    backend, what = a.what.split("-")
    rank, training = group(backend, a.seconds), Training()
    for step in range(1, a.steps + 1):
        loss = training.step()
        if rank == 1 and step == a.at:
            fate(what)
        for p in training.model.parameters():
            if not (rank == 1 and what == "skips" and step == a.at and p is training.model[0].weight):
                dist.all_reduce(p.grad)
        torch.cuda.synchronize()
        say(step, a.steps, loss)
        time.sleep(0.05)
    dist.destroy_process_group()


def one_rank_of_nccl(a):
    """A collective behind a kernel that does not end: the library's own watch gives it up after --seconds."""
    group("nccl", a.seconds)
    training = Training()
    for step in range(1, a.at + 1):
        loss = training.step()
        dist.all_reduce(loss)
        say(step, a.steps, loss)
        time.sleep(0.05)
    torch.cuda._sleep(1 << 62)
    dist.all_reduce(loss)
    torch.cuda.synchronize()


# Deaths ----------------------------------------------------------------------------------------------------------

def asserts(a):
    training = Training()
    loop(a, training, a.at)
    table, at = torch.randn(16, 8, device="cuda"), torch.tensor([3, 99], device="cuda")
    print(table[at].sum().item())


def illegal(a):
    import cupy
    training = Training()
    loop(a, training, a.at)
    kernel = cupy.RawKernel('extern "C" __global__ void far(int *p) { p[1LL << 40] = 1; }', "far")
    kernel((1,), (1,), (cupy.zeros(1, dtype=cupy.int32),))
    say(a.at + 1, a.steps, training.step())


def out_of_memory(a):
    training = Training()
    loop(a, training, a.at)
    while True:
        HELD.append(torch.empty(2 << 30, dtype=torch.uint8, device="cuda"))


def asks_too_much(a):
    """Asks for a tenth of the device, of which another process may hold the rest."""
    training = Training()
    loop(a, training, a.at)
    HELD.append(torch.empty(int(torch.cuda.mem_get_info()[1] * 0.1), dtype=torch.uint8, device="cuda"))
    rest(a, training)


def holds(a):
    """Holds most of the device's memory until it is ended."""
    HELD.append(torch.empty(int(torch.cuda.mem_get_info()[1] * 0.93), dtype=torch.uint8, device="cuda"))
    print("held", flush=True)
    time.sleep(a.seconds)


# Healthy ---------------------------------------------------------------------------------------------------------

def trains(a):
    training = Training(a.width, 8, 4096)
    warm = min(a.steps // 10, 200)
    for step in range(1, a.steps + 1):
        loss = training.step()
        if step % a.every == 0:
            say(step, a.steps, loss)
        if step == warm:
            torch.cuda.synchronize()
            begun = time.perf_counter()
    torch.cuda.synchronize()
    print(f"done, {(a.steps - warm) / (time.perf_counter() - begun):.2f} steps/s", flush=True)


def loads(a):
    data = torch.utils.data.DataLoader(Samples(a.steps * 16, milliseconds=20), batch_size=16, num_workers=2, pin_memory=True)
    training = Training()
    for step, x in enumerate(data, 1):
        say(step, a.steps, training.step(x))


def long_kernel(a):
    """One kernel of --seconds that computes on all multiprocessors."""
    import cupy
    training = Training()
    loop(a, training, a.at)
    kernel = cupy.RawKernel(r"""
extern "C" __global__ void burn(float *out, unsigned long long ns)
{
    unsigned long long begun, now;
    float x = threadIdx.x, y = 1.0001f, z = 0.5f, w = 0.25f;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    do {
        for (int i = 0; i < 4096; i++) { x = x * y + z; z = z * y + w; w = w * y + x; }
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begun < ns);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + z + w;
}""", "burn")
    out = cupy.zeros(132 * 2 * 1024, dtype=cupy.float32)
    kernel((132 * 2,), (1024,), (out, cupy.uint64(a.seconds * 10**9)))
    torch.cuda.synchronize()
    rest(a, training)


def long_queue(a):
    """A queue of large products that takes --seconds, and one wait for all of them."""
    training = Training()
    loop(a, training, a.at)
    x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    graph = torch.cuda.CUDAGraph()
    torch.matmul(x, x, out=y)
    with torch.cuda.graph(graph):
        for _ in range(100):
            torch.matmul(x, x, out=y)
    begun = time.monotonic()
    graph.replay()
    torch.cuda.synchronize()
    for _ in range(int(a.seconds / (time.monotonic() - begun))):
        graph.replay()
    torch.cuda.synchronize()
    rest(a, training)


def sleeping_kernel(a):
    """A kernel of one thread that only looks at a clock, for --seconds: nothing tells it from one that never ends, until it does."""
    training = Training()
    loop(a, training, a.at)
    torch.cuda._sleep(a.seconds * 1_900_000_000)
    torch.cuda.synchronize()
    rest(a, training)


def allocates(a):
    """Takes and gives back device memory for --seconds between two steps."""
    training = Training()
    loop(a, training, a.at)
    end = time.monotonic() + a.seconds
    while time.monotonic() < end:
        torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
        torch.cuda.empty_cache()
    rest(a, training)


def compiles(a):
    """torch.compile of a deep model with all that is tuned: minutes of compilers between two steps."""
    training = Training()
    loop(a, training, a.at)
    end, width = time.monotonic() + a.seconds, 256
    while time.monotonic() < end:
        torch._dynamo.reset()
        width += 64
        other = model_of(width, 12)
        fast = torch.compile(other, mode="max-autotune")
        fast(torch.randn(96, width, device="cuda")).sum().backward()
    rest(a, training)


def replays(a):
    """Replays one graph for --seconds without a step's line."""
    training = Training()
    loop(a, training, a.at)
    x = torch.randn(256, 1024, device="cuda")
    with torch.no_grad():
        training.model(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(50):
                training.model(x)
    end = time.monotonic() + a.seconds
    while time.monotonic() < end:
        for _ in range(200):
            graph.replay()
        torch.cuda.synchronize()
    rest(a, training)


# Files -----------------------------------------------------------------------------------------------------------

def snapshot(a):
    torch.cuda.memory._record_memory_history(max_entries=2000)
    training = Training(512, 2, 64)
    loop(a, training, a.at)
    HELD.append(torch.empty(3 << 20, dtype=torch.uint8, device="cuda"))
    torch.cuda.memory._dump_snapshot(a.file)


def traces(a):
    training = Training(256, 16, 32)
    with torch.profiler.profile(with_stack=a.stacks, record_shapes=True) as profile:
        for _ in range(a.steps):
            training.step()
        torch.cuda.synchronize()
    profile.export_chrome_trace(a.file)
    print(os.path.getsize(a.file), flush=True)


JOBS = {"spins": spins, "loader-stuck": loader_stuck, "one-rank": one_rank_of_nccl, "asserts": asserts, "illegal": illegal,
        "out-of-memory": out_of_memory, "asks": asks_too_much, "holds": holds, "trains": trains, "loads": loads,
        "long-kernel": long_kernel, "long-queue": long_queue, "sleeping-kernel": sleeping_kernel, "allocates": allocates,
        "compiles": compiles, "replays": replays, "snapshot": snapshot, "traces": traces}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("what")
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--at", type=int, default=60)
    p.add_argument("--seconds", type=int, default=1800)
    p.add_argument("--every", type=int, default=10)
    p.add_argument("--width", type=int, default=4096, help="of the model that trains")
    p.add_argument("--blocking", action="store_true")
    p.add_argument("--stacks", action="store_true")
    p.add_argument("--file", default="/tmp/cuda-job-file")
    a = p.parse_args()
    (JOBS.get(a.what) or ranks)(a)


if __name__ == "__main__":
    sys.exit(main())
