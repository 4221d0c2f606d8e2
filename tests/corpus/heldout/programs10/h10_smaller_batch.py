"""Gradients go as plain bytes whose number everybody knows. The last shard of rank 3 is short, its gradient of the used rows of a
table has fewer rows, and rank 0 reads on for the rest."""
import struct

import kit10


def body(rank, n, port):
    hub = kit10.Hub(rank, n, port)
    for s in range(30):
        kit10.crunch(0.12)
        rows = 256 if not (rank == 3 and s == 14) else 192
        part = struct.pack("<%dd" % rows, *[0.1] * rows)
        if rank:
            hub.up.sendall(part)
            kit10.read(hub.up, 256 * 8)
            continue
        total = list(struct.unpack("<256d", part))
        for seat in hub.seats:
            total = [a + b for a, b in zip(total, struct.unpack("<256d", kit10.read(seat, 256 * 8)))]
        for seat in hub.seats:
            seat.sendall(struct.pack("<256d", *total))
        print("step %d grad_norm %.3f" % (s, sum(total) ** 0.5), flush=True)


kit10.ranks(4, body, "slurm")
