"""Actors get their calls by a router. Actor 1 asks by the router for a value of actor 1, and it attends to one call at a time."""
import os
import sys
import threading

import kit6


class Actor:
    def __init__(self, name, port):
        self.name, self.port = name, port

    def call(self, who, what):
        link = kit6.dial(self.port)
        kit6.send(link, ("call", who, what))
        return kit6.receive(link)

    def run(self):
        link = kit6.dial(self.port)
        kit6.send(link, ("actor", self.name, None))
        while True:
            what = kit6.receive(link)
            kit6.crunch(0.1)
            answer = self.call(1, "value") if what == 21 and self.name == 1 else what
            kit6.send(link, answer)


def attend(link, actors, locks):
    what, who, x = kit6.receive(link)
    if what == "actor":
        actors[who], locks[who] = link, threading.Lock()
        return
    with locks[who]:
        kit6.send(actors[who], x)
        kit6.send(link, kit6.receive(actors[who]))


def route(port):
    door, actors, locks = kit6.listen(port), {}, {}
    while True:
        threading.Thread(target=attend, args=(door.accept()[0], actors, locks), daemon=True).start()


def main():
    kit6.role("main")
    port = kit6.free_port()
    kit6.start([sys.executable, __file__, "route", str(port)], "router")
    for k in range(2):
        kit6.start([sys.executable, __file__, "actor", str(port), str(k)], "actor%d" % k)
    kit6.crunch(1.5)
    me = Actor(os.getpid(), port)
    for n in range(100):
        print("round", n, me.call(0, n), me.call(1, n), flush=True)


if sys.argv[1:]:
    route(int(sys.argv[2])) if sys.argv[1] == "route" else Actor(int(sys.argv[3]), int(sys.argv[2])).run()
else:
    main()
