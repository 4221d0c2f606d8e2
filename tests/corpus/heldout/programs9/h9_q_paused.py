"""A scheduler and its workers that tell ten times a second how they are. Worker 1 is over its limit and takes no task for 60 s, until what it
kept is on the disk."""
import sys
import time

import kit9


def schedule(port):
    door, links = kit9.listen(port), []
    while len(links) < 3:
        links.append(door.accept()[0])
    links = {kit9.receive(link): link for link in links}
    main = links.pop("main")
    while True:
        wanted, k = kit9.receive(main)
        result = None
        while result is None:
            for name, link in links.items():
                state, got = kit9.receive(link)
                result = got if got is not None else result
                task = k if name == wanted and state == "running" else None
                kit9.send(link, task)
                k = None if task is not None else k
        kit9.send(main, result)


def work(name, port):
    link, tasks, until, got = kit9.dial(port), 0, 0, None
    kit9.send(link, name)
    while True:
        time.sleep(0.1)
        kit9.send(link, ("paused" if time.monotonic() < until else "running", got))
        task, got = kit9.receive(link), None
        if task is not None:
            tasks += 1
            got = task * task
            until = time.monotonic() + 60 if (name, tasks) == ("worker1", 10) else 0


if len(sys.argv) > 2:
    try:
        schedule(int(sys.argv[2])) if sys.argv[1] == "scheduler" else work(sys.argv[1], int(sys.argv[2]))
    except EOFError:
        sys.exit(0)
kit9.role("main")
port = kit9.free_port()
for name in ("scheduler", "worker0", "worker1"):
    kit9.start([sys.executable, sys.argv[0], name, str(port)], name)
link = kit9.dial(port)
kit9.send(link, "main")
for k in range(36):
    kit9.send(link, ("worker%d" % (k % 2), k))
    print("partition %d: %s" % (k, kit9.receive(link)), flush=True)
