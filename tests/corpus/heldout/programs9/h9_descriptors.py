"""A server of samples opens a file for each request and leaves it open. When it has no descriptor left it cannot accept; it tells that
to its own log, waits a second and tries again."""
import resource
import sys
import time

import kit9


def serve(port):
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    door, files, log = kit9.listen(port), [], open("samples.log", "w", buffering=1)
    while True:
        try:
            link, _ = door.accept()
            files.append(open(__file__, "rb"))
        except OSError as error:
            print(time.strftime("%H:%M:%S"), error, file=log)
            time.sleep(1)
            continue
        kit9.receive(link)
        kit9.send(link, files[-1].read(100))
        link.close()


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(60):
        link = kit9.dial(port + 7)
        kit9.send(link, s)
        kit9.receive(link)
        link.close()
        kit9.crunch(0.2)
        hub.reduce(1.0)
        kit9.step(rank, s, 60)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))


def body(rank, n, port):
    if rank == 0:
        kit9.start([sys.executable, sys.argv[0], "serve", str(port + 7)], "samples")
    train(rank, n, port)


kit9.main(3, body)
