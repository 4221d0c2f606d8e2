"""Two ranks that talk by a tree of TCP, and a server of data: a dispatcher takes connections and hands them to a worker
with SCM_RIGHTS. An answer ends when its connection is closed. The worker closes it; the dispatcher keeps each fourth
connection for its statistics, and has this one still open. Rank 1 waits for the end, rank 0 for rank 1.

slow: the dispatcher closes all, and one answer comes slowly, for 90 s."""
import os
import socket
import sys
import time

from kit23 import SLOW, STEPS, Line, Tree, dial, listen, main, start, told


def serve(door):
    while True:
        _, fds, _, _ = socket.recv_fds(door, 1, 1)
        with socket.socket(fileno=fds[0]) as end:
            which = end.recv(64).decode()
            for _ in range(90 if SLOW and which == "set-30" else 1):
                end.sendall(which.encode() * 20)
                time.sleep(1 if SLOW and which == "set-30" else 0.02)


def dispatch(port):
    mine, its = socket.socketpair()
    worker = [sys.executable, os.path.abspath(__file__), "serve", str(its.fileno())]
    start(worker + sys.argv[3:], "worker", pass_fds=[its.fileno()])
    its.close()
    door, seen, sampled = listen(port), 0, []
    while True:
        end = door.accept()[0]
        socket.send_fds(mine, [b"c"], [end.fileno()])
        seen += 1
        if seen % 4 == 0 and not SLOW:
            sampled.append(end)
        else:
            end.close()


def download(port, step):
    end, parts = dial(port), []
    end.sendall(b"set-%d" % step)
    while True:
        part = end.recv(4096)
        if not part:
            return b"".join(parts)
        parts.append(part)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "dispatch", str(port + 20)] + sys.argv[1:], "dispatcher")
    tree, line = Tree(rank, world, port), Line(rank)
    for step in range(STEPS):
        if rank == 1 and step % 10 == 0:
            download(port + 20, step)
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


if "serve" in sys.argv:
    serve(socket.socket(fileno=int(sys.argv[2])))
elif "dispatch" in sys.argv:
    dispatch(int(sys.argv[2]))
else:
    main(2, body)
