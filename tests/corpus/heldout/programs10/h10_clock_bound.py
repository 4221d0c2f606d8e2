"""A server of parameters lets no worker be more than three steps ahead of the slowest. Worker 2 has less data and has left, but its clock
is still among those of which the least counts."""
import select
import time

import kit10

N = 4


def serve(port):
    door, links, clocks, waiting = kit10.listen(port), {}, {}, []
    while len(links) < N:
        s, _ = door.accept()
        r = kit10.receive(s)
        links[s], clocks[r] = r, 0
    while links:
        for s in select.select(list(links), [], [])[0]:
            try:
                r, step = kit10.receive(s)
            except EOFError:
                print("worker %d has left" % links.pop(s), flush=True)
                continue
            clocks[r] = step
            waiting.append((s, step))
        ready = [(s, c) for s, c in waiting if c <= min(clocks.values()) + 3]
        waiting = [w for w in waiting if w not in ready]
        for s, c in ready:
            kit10.send(s, 0.1)
        if ready:
            print("global clock %d" % min(clocks.values()), flush=True)


def work(rank, port):
    link = kit10.dial(port)
    kit10.send(link, rank)
    for s in range(1, 30 if rank != 2 else 10):
        time.sleep(0.1)
        kit10.send(link, (rank, s))
        kit10.receive(link)


name, words = kit10.job()
if name == "server":
    serve(int(words[0]))
elif name:
    work(int(name[4:]), int(words[0]))
else:
    kit10.role("launcher")
    port = kit10.free_port()
    jobs = [kit10.again("server", port)]
    for r in range(N):
        import os
        os.environ["RANK"], os.environ["WORLD_SIZE"] = str(r), str(N)
        jobs.append(kit10.again("rank%d" % r, port))
    raise SystemExit(max(p.wait() for p in jobs))
