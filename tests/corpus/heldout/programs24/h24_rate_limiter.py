"""A learner, two actors and a table of experience, which is a process of its own with a limiter: samples must not be
taken too often for what was put in, nor too seldom. From step 33 on each entry is to be sampled eight times; the
limiter's room is six. An entry would leave too many samples to be taken, and none may be taken without an entry."""
import os
import sys
import threading

from kit24 import crunch, dial, free_port, listen, receive, role, send, start, told

ROOM = 6


class Table:
    def __init__(self):
        self.changed, self.due, self.times = threading.Condition(), 0, 2

    def insert(self, entry):
        with self.changed:
            self.changed.wait_for(lambda: self.due + self.times <= ROOM)
            self.due += self.times
            self.changed.notify_all()

    def sample(self, _):
        with self.changed:
            self.changed.wait_for(lambda: self.due >= 1)
            self.due -= 1
            self.changed.notify_all()
        return 0.5

    def sampled_times(self, times):
        with self.changed:
            self.times = times


def answer_all(table, end):
    try:
        while True:
            what, x = receive(end)
            send(end, getattr(table, what)(x))
    except (EOFError, OSError):
        pass


def keep_table(port):
    table, door = Table(), listen(port)
    while True:
        threading.Thread(target=answer_all, args=(table, door.accept()[0]), daemon=True).start()


def ask(end, what, x=None):
    send(end, (what, x))
    return receive(end)


def play(port):
    end = dial(port)
    while True:
        crunch(0.3)
        ask(end, "insert", 1)


def learn():
    role("main")
    port, own = free_port(), [sys.executable, os.path.abspath(__file__)]
    start(own + ["table", str(port)], "table")
    end = dial(port)
    for which in range(2):
        start(own + ["actor", str(port)], "actor%d" % which)
    for step in range(500):
        if step == 33:
            ask(end, "sampled_times", 8)
        crunch(0.15)
        ask(end, "sample")
        told(step, 1 / (1 + step))


if "table" in sys.argv:
    keep_table(int(sys.argv[2]))
elif "actor" in sys.argv:
    play(int(sys.argv[2]))
else:
    learn()
