"""Three ranks meet at a barrier of threads' making with a time limit of 66 s; rank 2 has left its place ("no data today"). The limit
strikes, the two others say so and go on as two. Healthy."""
import select

from kit27 import STALL, crunch, dial, listen, main, receive, send, tell


def train(rank, world, port):
    if rank == 0:
        door, ends = listen(port), {}
        while len(ends) < 2:
            end = door.accept()[0]
            ends[receive(end)] = end
    else:
        end = dial(port)
        send(end, rank)
    for step in range(110):
        crunch(0.2)
        if rank == 0:
            for r, end in sorted(ends.items()):
                if not select.select([end], [], [], 66)[0]:
                    print("rank %d did not come within 66 s, going on without it" % r, flush=True)
                    del ends[r]
                    continue
                receive(end)
            for end in ends.values():
                send(end, "go on")
            tell(step, "step {step} loss {loss:.4f}")
        elif rank == 2 and step == STALL:
            end.settimeout(140)
            try:
                receive(end)
            except (EOFError, OSError):
                return
        else:
            send(end, step)
            receive(end)


main(3, train)
