"""Three ranks that talk by a tree of TCP, and a server of embeddings that has each connection told to it once by epoll
and asks for it again after its answer. A request for nothing is answered on a shorter way, which does not ask again:
rank 2's next request is not read."""
import os
import select
import sys

from kit23 import STEPS, Line, Tree, dial, listen, main, receive, send, start, told

ONCE = select.EPOLLIN | select.EPOLLONESHOT


def serve(port):
    door, poll, ends = listen(port), select.epoll(), {}
    poll.register(door, select.EPOLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == door.fileno():
                end = door.accept()[0]
                ends[end.fileno()] = end
                poll.register(end, ONCE)
                continue
            ids = receive(ends[fd])
            if not ids:
                send(ends[fd], [])
                continue
            send(ends[fd], [i % 5 for i in ids])
            poll.modify(fd, ONCE)


def embed(end, ids):
    send(end, ids)
    return receive(end)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)], "server")
    tree, line, end = Tree(rank, world, port), Line(rank), dial(port + 20)
    for step in range(STEPS):
        embed(end, [] if rank == 2 and step == 30 else [step, step + 1])
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(3, body)
