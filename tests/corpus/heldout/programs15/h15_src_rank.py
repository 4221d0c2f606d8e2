"""Four ranks have unix sockets to each other. After each epoch the rank with the lowest loss sends its learning
rate to the others. Two are equally low in the third epoch; rank 2 has sorted them otherwise than the others and
takes rank 3 for the sender, the others rank 1."""
import os
import socket
import time

from kit15 import crunch, main, receive, send, told


def mesh(rank, world):
    """A connection to each other rank, by a file of the higher one."""
    door = socket.socket(socket.AF_UNIX)
    door.bind("peer%d.sock" % rank)
    door.listen(8)
    peers = {}
    for r in range(rank + 1, world):
        while not os.path.exists("peer%d.sock" % r):
            time.sleep(0.05)
        peers[r] = socket.socket(socket.AF_UNIX)
        while peers[r].connect_ex("peer%d.sock" % r):
            time.sleep(0.05)
        send(peers[r], rank)
    for _ in range(rank):
        peer = door.accept()[0]
        peers[receive(peer)] = peer
    return peers


def take(peers, kept, source, kind):
    while (source, kind) not in kept:
        what, thing = receive(peers[source])
        kept[source, what] = thing
    return kept.pop((source, kind))


def share(peers, kind, thing):
    for peer in peers.values():
        send(peer, (kind, thing))


def loss(rank, step):
    return 2.5 - (rank + step // 25) % 4 / 4 if step < 70 else 1.0 + (rank % 2 == 0)


def body(rank, world, port):
    peers, kept = mesh(rank, world), {}
    for step in range(300):
        crunch(0.12)
        losses = {rank: loss(rank, step)}
        share(peers, "loss", losses[rank])
        losses.update({r: take(peers, kept, r, "loss") for r in peers})
        if rank == 0:
            told(step)
        if step % 25 == 24:
            best = min(losses, key=lambda r: (losses[r], -r if rank == 2 else r))
            if rank == best:
                share(peers, "rate", 1e-4)
            else:
                take(peers, kept, best, "rate")


main(4, body)
