"""Three ranks are the stages of a pipeline; the first and the last one have the same embedding, whose gradients they
exchange after each step. At step 40 the embedding is frozen, which the first stage only knows of: it leaves the exchange
out. The last stage waits for it in the exchange, the second for the last, the first for the second."""
from kit18 import crunch, dial, listen, main, receive, send, told


def connect(rank, world, port):
    """Each rank to each other one."""
    door, peers = listen(port + rank), {}
    for r in range(rank):
        peers[r] = dial(port + r)
        send(peers[r], rank)
    for _ in range(rank + 1, world):
        peer = door.accept()[0]
        peers[receive(peer)] = peer
    return peers


def exchange_tied(peer):
    send(peer, 0.01)
    receive(peer)


def forward_backward(rank, peers, step):
    if rank:
        receive(peers[rank - 1])
    crunch(0.07)
    if rank < 2:
        send(peers[rank + 1], [step] * 100)
        receive(peers[rank + 1])
    crunch(0.07)
    if rank:
        send(peers[rank - 1], [0.5] * 100)


def body(rank, world, port):
    peers, frozen = connect(rank, world, port), False
    for step in range(400):
        if rank == 0 and step == 40:
            frozen = True
        forward_backward(rank, peers, step)
        if rank != 1 and not frozen:
            exchange_tied(peers[2 - rank])
        if rank == 0:
            told(step)


main(3, body, "arg")
