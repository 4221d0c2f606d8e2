"""Three ranks ask a model in a service of its own to judge their texts. The service collects three requests before it
computes, without a limit of time. The shard of rank 2 is shorter: it has no more questions and waits for the others at
the end, and those wait for answers.

slow: all have as many, and rank 2 reads for 48 s before one of its questions."""
import select
import socket
import sys

from kit20 import SLOW, STEPS, Star, again, busy, crunch, dial, listen, main, receive, send, start, told, with_parent

BATCH = 3


def collect(links):
    asked = []
    while len(asked) < BATCH:
        for link in select.select([k for k in links if k not in asked], [], [])[0]:
            try:
                receive(link)
            except EOFError:
                sys.exit(0)
            asked.append(link)
    return asked


def serve(port):
    with_parent()
    door = listen(port)
    links = [door.accept()[0] for _ in range(BATCH)]
    while True:
        asked = collect(links)
        crunch(0.1)
        for link in asked:
            send(link, 0.7)


def ask(link, text):
    send(link, text)
    return receive(link)


def finish(star):
    star.mean("end", 1.0)


def body(rank, world, port):
    if rank == 0:
        start(again("serve") + [str(port + 3)], "server")
    star, link = Star(rank, world, port), dial(port + 3)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for step in range(STEPS if SLOW else 40 if rank == 2 else 60):
        if SLOW and rank == 2 and step == 40:
            busy(48)
        ask(link, "a text")
        crunch(0.1)
        if rank == 0:
            told(step)
    finish(star)


if "serve" in sys.argv:
    serve(int(sys.argv[-1]))
else:
    main(3, body, "fork")
