"""Four ranks and a coordinator with a protocol of lines: "ADD name value" is answered when all have asked. The coordinator reads
line by line. Rank 2 reports an outlier in a line without its end ("WARN ..." as sent by another function), and then its ADD in the
same breath: the coordinator reads both as one WARN line, which has no answer.

slow: no outlier; the coordinator merges histograms for 64 s at one step."""
import socket
import sys
import threading

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, busy, dial, listen, main, os, role, start, time


class Coordinator:
    def __init__(self, world, port):
        self.world, self.sums, self.change = world, {}, threading.Condition()
        self.door = listen(port)

    def add(self, name, value):
        with self.change:
            entry = self.sums.setdefault(name, [0, 0.0])
            entry[0] += 1
            entry[1] += value
            if entry[0] == self.world:
                if SLOW and name == "grad-%d" % STALL:
                    busy(64)
                self.change.notify_all()
            while entry[0] < self.world:
                self.change.wait()
            return entry[1]

    def client(self, sock):
        with sock, sock.makefile("rw") as lines:
            for line in lines:
                words = line.split()
                if words[0] == "ADD":
                    lines.write("SUM %s %r\n" % (words[1], self.add(words[1], float(words[2]))))
                    lines.flush()
                elif words[0] == "WARN":
                    print("coordinator: " + line.strip(), file=sys.stderr, flush=True)

    def run(self):
        seats = [threading.Thread(target=self.client, args=(self.door.accept()[0],)) for _ in range(self.world)]
        for t in seats:
            t.start()
        for t in seats:
            t.join()


class Client:
    def __init__(self, port):
        self.sock = dial(port)
        self.answers = self.sock.makefile("r")

    def add(self, name, value):
        self.sock.sendall(("ADD %s %r\n" % (name, value)).encode())
        return float(self.answers.readline().split()[2])

    def warn(self, text):
        self.sock.sendall(("WARN " + text).encode())


def body(rank, world, port):
    if rank == 0:
        start(OWN + sys.argv[1:] + ["--coordinate", str(world), str(port)], "coordinator")
    client, model, report = Client(port), Model(rank), Report("json", rank)
    for step in range(STEPS):
        slope = model.gradient()
        if rank == 2 and step == STALL and not SLOW:
            client.warn("rank 2 step %d: gradient norm %.2f is an outlier" % (step, slope))
        model.update(client.add("grad-%d" % step, slope) / world)
        if rank == 0:
            report(step, model.loss())


if "--coordinate" in sys.argv:
    Coordinator(int(sys.argv[-2]), int(sys.argv[-1])).run()
else:
    main(4, body)
