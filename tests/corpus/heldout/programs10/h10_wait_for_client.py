"""Somebody has left a line in the evaluation of rank 2 that waits for his debugger, which attaches by a port."""
import kit10


def wait_for_client(port):
    door = kit10.listen(port)
    link, _ = door.accept()
    kit10.receive(link)


def evaluate(rank, port):
    if rank == 2:
        wait_for_client(port + 5)
    return 0.71


def body(rank, n, port):
    hub = kit10.Hub(rank, n, port)
    for s in range(40):
        kit10.crunch(0.1)
        kit10.log(rank, s, loss=hub.reduce(1 / (1 + s)))
        if s % 10 == 9:
            kit10.log(rank, s, accuracy=hub.reduce(evaluate(rank, port)) / n)


kit10.main(3, body, "arg")
