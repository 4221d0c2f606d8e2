"""Three ranks form their group anew after step 40, at the port of the next generation. Rank 1 takes the endpoint from a
default argument, which was computed as the program began: it dials the port of the first generation, where nobody
listens, again and again. Rank 0 waits for it in accept(), rank 2 for rank 0.

slow: all dial the new one; rank 1 comes 48 s later as it loads."""
import os
import time

from kit17 import SLOW, busy, crunch, dial, listen, main, receive, send, told

GENERATION = [0]


def endpoint():
    return int(os.environ.get("MASTER_PORT", "0")) + GENERATION[0]


def dial_again(port=endpoint()):
    while True:
        try:
            return dial_once(port)
        except ConnectionRefusedError:
            time.sleep(0.5)


def dial_once(port):
    import socket
    return socket.create_connection(("127.0.0.1", port))


def form_group(rank, world):
    if rank == 0:
        door, peers = listen(endpoint()), {}
        while len(peers) < world - 1:
            peer = door.accept()[0]
            peers[receive(peer)] = peer
        door.close()
        for peer in peers.values():
            send(peer, "go")
        return peers
    old_way = rank == 1 and GENERATION[0] > 0 and not SLOW
    if SLOW and (rank, GENERATION[0]) == (1, 1):
        busy(48)
    peer = dial_again() if old_way else dial(endpoint())
    send(peer, rank)
    receive(peer)
    return {0: peer}


def mean(rank, world, peers, x):
    if rank:
        send(peers[0], x)
        return receive(peers[0])
    x = (x + sum(receive(p) for p in peers.values())) / world
    for p in peers.values():
        send(p, x)
    return x


def body(rank, world, port):
    peers = form_group(rank, world)
    for step in range(60 if SLOW else 400):
        crunch(0.2)
        mean(rank, world, peers, 0.1)
        if rank == 0:
            told(step)
        if step == 40:
            for peer in peers.values():
                peer.close()
            GENERATION[0] += 1
            peers = form_group(rank, world)


main(3, body, "env")
