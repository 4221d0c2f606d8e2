"""A scheduler waits for the result of a worker that left with 0; its nanny has started a new one, which gets no old task."""
import os
import select
import sys

import kit6


def schedule(port):
    door, idle, busy, tasks, client = kit6.listen(port), [], {}, [], None
    while True:
        for s in select.select([door, *idle, *busy, *([client] if client else [])], [], [])[0]:
            if s is door:
                link, _ = door.accept()
                if kit6.receive(link) == "client":
                    client = link
                else:
                    idle.append(link)
                continue
            try:
                what = kit6.receive(s)
            except (EOFError, OSError):
                idle = [x for x in idle if x is not s]
                busy.pop(s, None)
                continue
            if s is client:
                tasks.append(what)
            else:
                busy.pop(s)
                idle.append(s)
                kit6.send(client, what)
        while idle and tasks:
            s = idle.pop(0)
            busy[s] = tasks.pop(0)
            kit6.send(s, busy[s])


def work(port):
    link = kit6.dial(port)
    kit6.send(link, "worker")
    while True:
        task = kit6.receive(link)
        kit6.crunch(0.15)
        if task == 47:
            os._exit(0)  # nanny: memory is over its limit
        kit6.send(link, task)


def nanny(port):
    for name in ("worker" + sys.argv[3], "again" + sys.argv[3]):
        kit6.start([sys.executable, __file__, "work", str(port)], name).wait()


def main():
    kit6.role("main")
    port = kit6.free_port()
    kit6.start([sys.executable, __file__, "schedule", str(port)], "scheduler")
    for k in range(2):
        kit6.start([sys.executable, __file__, "nanny", str(port), str(k)], "nanny%d" % k)
    link = kit6.dial(port)
    kit6.send(link, "client")
    have = set()
    for n in range(300):
        kit6.send(link, n)
        while n - 2 not in have and n >= 2:
            have.add(kit6.receive(link))
            print("results", len(have), flush=True)


{"schedule": schedule, "work": work, "nanny": nanny}[sys.argv[1]](int(sys.argv[2])) if sys.argv[1:] else main()
