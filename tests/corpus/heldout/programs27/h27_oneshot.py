"""An aggregator of gradients watches its connections by epoll with EPOLLONESHOT, and arms one anew after a whole message. A
message that comes in two parts is not whole at the first event: its connection is never looked at again, rank 2 waits for the sum.

slow: it is armed anew in any case; the aggregator writes a snapshot for 65 s."""
import os
import select
import sys
import time

from kit27 import OWN, SLOW, STALL, STEPS, WORDS, busy, crunch, dial, free_port, listen, read, role, start, tell

SIZE, ONCE = 4096, select.EPOLLIN | select.EPOLLONESHOT


def aggregate(port):
    door, chosen, ends, got = listen(port), select.epoll(), {}, {}
    step = 0
    for _ in range(3):
        end = door.accept()[0]
        ends[end.fileno()], got[end.fileno()] = end, b""
        chosen.register(end.fileno(), ONCE)
    while True:
        for fd, _ in chosen.poll():
            part = ends[fd].recv(SIZE - len(got[fd]))
            if not part:
                return
            got[fd] += part
            if SLOW and len(got[fd]) < SIZE:
                chosen.modify(fd, ONCE)
        if all(len(x) == SIZE for x in got.values()):
            if SLOW and step == STALL:
                busy(65)
            step += 1
            for fd, end in ends.items():
                end.sendall(got[fd])
                got[fd] = b""
                chosen.modify(fd, ONCE)


def train(rank, port):
    end = dial(port)
    for step in range(STEPS):
        crunch(0.2)
        at = 1000 if rank == 2 and step == STALL else SIZE
        end.sendall(b"g" * at)
        if at < SIZE:
            time.sleep(0.3)
            end.sendall(b"g" * (SIZE - at))
        read(end, SIZE)
        if rank == 0:
            tell(step, "Step {step}, Loss: {loss:.6f}")


def launch():
    role("launcher")
    port = free_port()
    start(OWN + ["aggregate", str(port)] + WORDS, "aggregator")
    ranks = []
    for r in range(3):
        ranks.append(start(OWN + ["train", str(port)] + WORDS, "rank%d" % r, env=dict(os.environ, RANK=str(r), WORLD_SIZE="3")))
    sys.exit(max(p.wait() for p in ranks))


if "aggregate" in sys.argv:
    aggregate(int(sys.argv[2]))
elif "train" in sys.argv:
    train(int(os.environ["RANK"]), int(sys.argv[2]))
else:
    launch()
