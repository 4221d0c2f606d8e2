"""Training of one process with a bus of events under a lock that is not re-entrant. A handler for "plateau" lowers the rate and publishes
"rate" - from within publish(), which has the lock. It prints nothing at all.

slow: handlers are called outside of the lock; one searches for a rate for 66 s."""
import threading

from kit29 import SLOW, STALL, STEPS, Model, busy, role


class Bus:
    def __init__(self):
        self.lock, self.handlers, self.history = threading.Lock(), {}, []

    def subscribe(self, name, handler):
        with self.lock:
            self.handlers.setdefault(name, []).append(handler)

    def publish(self, name, *what):
        if SLOW:
            with self.lock:
                self.history.append((name, what))
                handlers = list(self.handlers.get(name, ()))
            for handler in handlers:
                handler(*what)
            return
        with self.lock:
            self.history.append((name, what))
            for handler in self.handlers.get(name, ()):
                handler(*what)


class Schedule:
    def __init__(self, bus):
        self.bus, self.rate = bus, 0.02
        bus.subscribe("plateau", self.lower)

    def lower(self, step):
        if SLOW:
            busy(66)
        self.rate /= 10
        self.bus.publish("rate", step, self.rate)


def main():
    role("main")
    bus, model = Bus(), Model()
    schedule = Schedule(bus)
    for step in range(STEPS):
        model.update(model.gradient(), schedule.rate)
        bus.publish("step", step, model.loss())
        if step == STALL:
            bus.publish("plateau", step)


main()
