"""The machine of rank 2 is taken away. The others wait a minute for its part, as the group's timeout says, and go on as two."""
import socket

import kit10


def body(rank, n, port):
    hub = kit10.Hub(rank, n, port)
    if rank == 0:
        for seat in hub.seats:
            seat.settimeout(60)
    for s in range(70):
        kit10.crunch(0.12)
        if rank == 2 and s == 30:
            import time
            time.sleep(75)  # as if it had lost its network
            return
        if rank:
            hub.reduce(1)
            continue
        total, lost = 1, []
        for seat in hub.seats:
            try:
                total += kit10.receive(seat)
            except (socket.timeout, EOFError):
                print("a peer does not answer, going on without it", flush=True)
                lost.append(seat)
        hub.seats = [x for x in hub.seats if x not in lost]
        for seat in hub.seats:
            kit10.send(seat, total)
        kit10.log(rank, s, world=1 + len(hub.seats))


kit10.main(3, body)
