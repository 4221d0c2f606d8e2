"""Two ranks fetch batches from a server that serves one connection until its client closes it. Rank 0 keeps its connection now
("keep-alive"), so rank 1's new one stands in the backlog; rank 0 waits in the sum for rank 1.

slow: the server compacts its index for 66 s before it accepts the next."""
import sys
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, dial, listen, main, part, receive, send, tell


def serve(port):
    door, compacted = listen(port), False
    while True:
        end = door.accept()[0]
        try:
            while True:
                step = receive(end)
                if SLOW and step == STALL and not compacted:
                    time.sleep(66)
                    compacted = True
                send(end, [step] * 8)
        except (EOFError, OSError):
            end.close()


def batch(port, step, kept):
    end = dial(port)
    send(end, step)
    got = receive(end)
    if step == STALL and not SLOW:
        kept.append(end)
    else:
        end.close()
    return got


def body(rank, world, port):
    star, kept = Star(rank, world), []
    if rank == 0:
        part("batches", port)
    for step in range(STEPS):
        compute()
        if rank == 1 and step == STALL:
            time.sleep(1)
        batch(port, step, kept)
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "epoch")


if "batches" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
