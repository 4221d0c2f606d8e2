"""Rank 0 selects over its workers' sockets and reads a line of each that is ready, through a buffered file. From the evaluation on a worker sends
two lines at once: the second is in the buffer already, and the socket is not ready any more."""
import select

from kit11 import crunch, dial, listen, main


class Collector:
    def __init__(self, port, n):
        door = listen(port)
        self.files = {}
        for _ in range(n - 1):
            s, _ = door.accept()
            self.files[s] = s.makefile("rb")

    def collect(self, lines_each):
        got = {s: [] for s in self.files}
        while any(len(v) < lines_each for v in got.values()):
            wanting = [s for s in got if len(got[s]) < lines_each]
            for s in select.select(wanting, [], [])[0]:
                got[s].append(self.files[s].readline())
        return [float(line.split()[1]) for lines in got.values() for line in lines]

    def answer(self, value):
        for s in self.files:
            s.sendall(b"mean %f\n" % value)


def body(rank, n, port):
    if rank == 0:
        collector = Collector(port, n)
    else:
        sock = dial(port)
        file = sock.makefile("rb")
    for step in range(300):
        crunch(0.15)
        evaluate = step % 25 == 24
        if rank == 0:
            values = collector.collect(2 if evaluate else 1)
            collector.answer(sum(values) / len(values))
            print("{'loss': %.4f, 'step': %d}" % (values[0], step), flush=True)
        else:
            text = b"loss %f\n" % (2 / (1 + step))
            sock.sendall(text + b"accuracy %f\n" % (step / 300) if evaluate else text)
            file.readline()


main(3, body, "arg")
