"""Two ranks elect who writes the checkpoint. Each withdraws as it sees that the other stands as well, waits equally long, and stands again."""
import time

import kit10


def elect(link):
    while True:
        kit10.send(link, "I stand")
        if kit10.receive(link) != "I stand":
            return True
        kit10.send(link, "after you")
        kit10.receive(link)
        time.sleep(0.25)


def body(rank, n, port):
    hub = kit10.Hub(rank, n, port)
    link = hub.seats[0] if rank == 0 else hub.up
    for s in range(20):
        kit10.crunch(0.1)
        hub.reduce(1)
        kit10.log(rank, s, ppl=round(30 / (1 + s), 2))
    elect(link)
    print("checkpoint written", flush=True)


kit10.ranks(2, body, "pmi")
