"""Two ranks. Rank 1 decodes a clip by a child with stdout and stderr to pipes and waits for its end before it reads them.
This clip has a warning for each frame: the pipe is full.

slow: it is a long clip, 66 s, with few warnings."""
import subprocess
import sys

from kit28 import OWN, SLOW, STALL, STEPS, Star, busy, compute, main, role, tell


def decode(clip):
    p = subprocess.Popen(OWN + ["decoder", str(clip)] + (["slow"] if SLOW else []), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    role("decoder", p.pid)
    if p.wait() != 0:
        raise RuntimeError("decoding of clip %d failed" % clip)
    return p.stdout.read()


def decoder(clip):
    for frame in range(12 if SLOW else 3000):
        print("[h264 @ 0x55d0] frame %d: non monotonic timestamp, using previous one" % frame, file=sys.stderr, flush=True)
    if SLOW:
        busy(66)
    print("ok")


def body(rank, world, port):
    star = Star(rank, world)
    for step in range(STEPS):
        compute()
        if rank == 1 and step == STALL:
            decode(step)
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "log")


if "decoder" in sys.argv:
    decoder(int(sys.argv[2]))
else:
    main(2, body)
