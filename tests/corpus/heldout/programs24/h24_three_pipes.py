"""Two folders are made alike by three processes in a circle of pipes: one lists files, one sends them, one writes them and
tells the first which ones have to be sent again. The first one reads that only when it has listed all. When nearly all
have to be sent again three pipes are full, and each waits for the next one."""
import os

from kit24 import crunch, role, told, with_parent

SIZE = 4096


def write(fd, what):
    body = b"%-*s" % (SIZE, what)
    while body:
        body = body[os.write(fd, body):]


def read(fd):
    got = b""
    while len(got) < SIZE:
        part = os.read(fd, SIZE - len(got))
        if not part:
            raise SystemExit
        got += part
    return got


def list_files(again, out):
    for k in range(3000):
        if k < 33:
            crunch(0.17)
            told(k, 0)
        write(out, b"file-%d" % k)
    while True:
        write(out, read(again))


def send_files(wanted, out):
    while True:
        write(out, read(wanted))


def write_files(files, again):
    count = 0
    while True:
        name = read(files)
        count += 1
        if count > 33:
            write(again, name)


role("main")
pipes = [os.pipe() for _ in range(3)]
parts = [("lister", list_files, 2, 0), ("sender", send_files, 0, 1), ("receiver", write_files, 1, 2)]
for name, work, source, sink in parts:
    pid = os.fork()
    if not pid:
        with_parent()
        role(name)
        mine = {pipes[source][0], pipes[sink][1]}
        for fd in {fd for pipe in pipes for fd in pipe} - mine:
            os.close(fd)
        work(pipes[source][0], pipes[sink][1])
for pipe in pipes:
    for fd in pipe:
        os.close(fd)
for _ in parts:
    os.wait()
