"""Three ranks in a ring of pipes; each reads its records from the pipe of a decoder, and the decoder of rank 0 becomes slow."""
import json
import os
import struct
import sys

import kit6

N = 3


def decode(rank):
    out = sys.stdout.buffer
    while True:
        kit6.disk(0.33 if rank == 0 and kit6.slow() else 0.11)
        out.write(bytes(20000))
        out.flush()


def ring_sum(before, after, x):
    total = x
    for _ in range(N - 1):
        os.write(after, struct.pack("q", x))
        x = struct.unpack("q", os.read(before, 8))[0]
        total += x
    return total


def train(rank, ring):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(N))
    kit6.with_parent()
    kit6.role("rank%d" % rank)
    decoder = kit6.start([sys.executable, __file__, "decode", str(rank)], "decoder%d" % rank, stdout=-1)
    laps, step, total = kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        decoder.stdout.read(4 * 20000)
        kit6.work(0.05)
        laps.mine()
        total = ring_sum(ring[rank][0], ring[(rank + 1) % N][1], kit6.vote(rank))
        laps.done()
        step += 1
        print(json.dumps({"rank": rank, "step": step, "loss": round(4.0 / (1 + step / 80), 4)}), flush=True)
    os._exit(0)


if sys.argv[1:2] == ["decode"]:
    decode(int(sys.argv[2]))
kit6.role("launcher")
pipes = [os.pipe() for _ in range(N)]
for r in range(N):
    if os.fork() == 0:
        train(r, pipes)
for _ in range(N):
    os.wait()
