"""Each 20 steps the rank with the least load writes a checkpoint, and the other one waits for its word. Each rank knows
its own load as it is now, and that of the other one as it was told a step before. At a peak each finds the other one to
have less: nobody writes, each waits for the word of the other one."""
import socket
import time

from kit18 import crunch, main, receive, send, told


def meet(rank, port):
    if rank == 0:
        door = socket.socket(socket.AF_UNIX)
        door.bind("\0least-%d" % port)
        door.listen(1)
        return door.accept()[0]
    peer = socket.socket(socket.AF_UNIX)
    for _ in range(600):
        try:
            peer.connect("\0least-%d" % port)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    return peer


def load(rank, step):
    return 1 + rank + (4 if step == 40 else 0)


def checkpoint(peer, rank, loads, step):
    if min(loads, key=loads.get) == rank:
        with open("checkpoint.txt", "w") as f:
            f.write("%d\n" % step)
        send(peer, ("saved", step))
    else:
        what, at = receive(peer)
        assert (what, at) == ("saved", step)


def body(rank, world, port):
    peer, loads = meet(rank, port), {0: 1, 1: 2}
    for step in range(400):
        crunch(0.2)
        send(peer, ("grad", 0.1))
        receive(peer)
        loads[rank] = load(rank, step)
        if step % 20 == 0:
            checkpoint(peer, rank, loads, step)
        send(peer, ("load", loads[rank]))
        loads[1 - rank] = receive(peer)[1]
        if rank == 0:
            told(step)


main(2, body, "fork")
