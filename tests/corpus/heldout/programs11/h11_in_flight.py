"""Main hands the writing end of a pipe to its collector over a unix socket and reads the pipe to its end. The collector wants its settings, by
another connection, before it looks there: the only writing end of the pipe is in a message that nobody has taken."""
import os
import socket

from kit11 import again, crunch, job, role


def collector(control, work):
    settings = control.recv(1024)
    while True:
        _, fds, _, _ = socket.recv_fds(work, 1024, 1)
        if not fds:
            return
        with os.fdopen(fds[0], "wb") as out:
            out.write(settings + b" 17 samples\n")


if job()[0] == "collector":
    collector(*(socket.socket(fileno=int(fd)) for fd in job()[1]))
else:
    role("main")
    control, theirs = socket.socketpair()
    work, their_work = socket.socketpair()
    fds = theirs.fileno(), their_work.fileno()
    again("collector", *fds, pass_fds=fds)
    theirs.close()
    their_work.close()
    for k in range(10):
        crunch(0.3)
        print("rollout", k, flush=True)
        reader, writer = os.pipe()
        socket.send_fds(work, [b"collect"], [writer])
        os.close(writer)
        with os.fdopen(reader, "rb") as f:
            print(f.read().decode(), flush=True)
        control.sendall(b"size=%d" % k)
