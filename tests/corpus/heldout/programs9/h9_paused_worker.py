"""A scheduler and three workers that tell ten times a second how they are. Worker 2 keeps results that nobody asked for, is over its limit
of memory, and takes no task any more; two tasks may only run there. The heartbeats go on."""
import sys
import time

import kit9


def schedule(port):
    """Tasks by worker; main asks for results."""
    door, links = kit9.listen(port), []
    while len(links) < 4:
        links.append(door.accept()[0])
    links = {kit9.receive(link): link for link in links}
    main = links.pop("main")
    for wanted, k in iter(lambda: kit9.receive(main), None):
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
    link, kept, got = kit9.dial(port), 0, None
    kit9.send(link, name)
    while True:
        time.sleep(0.1)
        kit9.send(link, ("paused" if kept > 900 else "running", got))
        task, got = kit9.receive(link), None
        if task is not None:
            kept += 100 if name == "worker2" else 10
            got = task * task


if len(sys.argv) > 2:
    schedule(int(sys.argv[2])) if sys.argv[1] == "scheduler" else work(sys.argv[1], int(sys.argv[2]))
kit9.role("main")
port = kit9.free_port()
for name in ("scheduler", "worker0", "worker1", "worker2"):
    kit9.start([sys.executable, sys.argv[0], name, str(port)], name)
link = kit9.dial(port)
kit9.send(link, "main")
for k in range(100):
    kit9.send(link, ("worker%d" % (k % 3), k))
    print("partition %d: %s" % (k, kit9.receive(link)), flush=True)
