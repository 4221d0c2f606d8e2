"""Ranks 0 and 1 are there and tell each other so four times a second until the third, whose container is still being made, comes."""
import os
import time

import kit10


def body(rank, n, port):
    if rank == 2:
        time.sleep(60)
        open("joined", "w").close()
    elif rank == 0:
        link, _ = kit10.listen(port + 20).accept()
        while not os.path.exists("joined"):
            kit10.send(link, "here")
            kit10.receive(link)
            time.sleep(0.25)
        link.close()
    else:
        link = kit10.dial(port + 20)
        try:
            while True:
                kit10.send(link, kit10.receive(link))
        except EOFError:
            pass
    hub = kit10.Hub(rank, n, port)
    for s in range(30):
        kit10.crunch(0.2)
        kit10.log(rank, s, reward=hub.reduce(1))


kit10.ranks(3, body, "pmi")
