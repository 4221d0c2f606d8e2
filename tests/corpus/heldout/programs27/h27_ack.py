"""Rank 0 deals batches by TCP and waits for each worker's "ok". Worker 2 drops a last batch that is not full, with
`continue`: it does not say ok, and waits for the next batch.

slow: no batch is dropped; at the same step worker 2 saves samples for 64 s."""
from kit27 import SLOW, STALL, STEPS, busy, crunch, dial, listen, main, receive, send, tell


def deal(world, port):
    door, ends = listen(port), {}
    while len(ends) < world - 1:
        end = door.accept()[0]
        ends[receive(end)] = end
    for step in range(STEPS):
        size = 7 if step == STALL and not SLOW else 8
        for r in sorted(ends):
            send(ends[r], ["x"] * (size if r == 2 else 8))
        crunch(0.2)
        for r in sorted(ends):
            assert receive(ends[r]) == "ok"
        tell(step, "Epoch: [{epoch}][{part}/30]\tLoss {loss:.3e}")
    for end in ends.values():
        send(end, None)


def work(rank, port):
    end, step = dial(port), 0
    send(end, rank)
    while (batch := receive(end)) is not None:
        step += 1
        if len(batch) < 8:
            continue
        crunch(0.15)
        if SLOW and rank == 2 and step == STALL:
            busy(64)
        send(end, "ok")


main(3, lambda rank, world, port: deal(world, port) if rank == 0 else work(rank, port))
