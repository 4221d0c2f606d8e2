"""A batch evaluation asks a scorer, a process with a thread for each connection. The scorer counts the requests that are
under way; one that has failed was never counted down. Told to stop, it waits until the count is nought; the evaluation
waits for its end.

slow: the count is right, and a last request, which nobody waits for, takes 56 s."""
import os
import sys
import threading

from kit24 import SLOW, busy, crunch, dial, free_port, listen, receive, role, send, start, told


class Scorer:
    def __init__(self):
        self.changed, self.open, self.stopping = threading.Condition(), 0, threading.Event()

    def count(self, more):
        with self.changed:
            self.open += more
            self.changed.notify_all()

    def score(self, row):
        if row == 20 and not SLOW:
            raise ValueError("row 20 has no label")
        busy(56) if row == "rest" else crunch(0.15)
        return 0.5

    def answer(self, row):
        self.count(1)
        value = self.score(row)
        self.count(-1)
        return value

    def talk(self, end):
        while True:
            try:
                row = receive(end)
            except EOFError:
                return
            if row == "stop":
                self.stopping.set()
                return
            try:
                value = self.answer(row)
            except ValueError as error:
                value = str(error)
            try:
                send(end, value)
            except OSError:
                return

    def drain(self):
        with self.changed:
            self.changed.wait_for(lambda: self.open == 0)


def serve(port):
    scorer, door = Scorer(), listen(port)

    def accept():
        while True:
            threading.Thread(target=scorer.talk, args=(door.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    scorer.stopping.wait()
    scorer.drain()


def evaluate():
    role("main")
    port = free_port()
    scorer = start([sys.executable, os.path.abspath(__file__), "serve", str(port)] + sys.argv[1:], "scorer")
    end = dial(port)
    for row in range(40):
        send(end, row)
        receive(end)
        told(row, 0.5)
    if SLOW:
        rest = dial(port)
        send(rest, "rest")
        crunch(0.5)
    send(end, "stop")
    scorer.wait()
    print("scored", flush=True)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    evaluate()
