"""An elastic agent with a store and three workers. Worker 2 fails; the agent asks the others to end and waits for them,
to start all anew. Worker 1 takes SIGTERM as "save at the next step", and its next step needs a key that worker 2 would
have written: it asks the store for ever."""
import os
import selectors
import signal
import sys
import time

from kit25 import OWN, STALL, STEPS, Log, Model, dial, free_port, listen, receive, role, send, start


def keep(port):
    door, chosen, keys, waiting = listen(port), selectors.DefaultSelector(), {}, []
    chosen.register(door, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is door:
                chosen.register(door.accept()[0], selectors.EVENT_READ)
                continue
            try:
                what, name, x = receive(key.fileobj)
            except (EOFError, OSError):
                chosen.unregister(key.fileobj)
                waiting = [w for w in waiting if w[0] is not key.fileobj]
                continue
            if what == "set":
                keys[name] = x
            else:
                waiting.append((key.fileobj, name))
            for end, wanted in [w for w in waiting if w[1] in keys]:
                send(end, keys[wanted])
                waiting.remove((end, wanted))


class Asked:
    save = False


def work(rank, port, life):
    store, model, log = dial(port), Model(rank), Log("logger", "worker")
    if rank == 1:
        signal.signal(signal.SIGTERM, lambda *_: setattr(Asked, "save", True))
    for step in range(STEPS):
        slope = model.backward()
        if rank == 2 and step == STALL and life == 0:
            sys.exit("CUDA error: an illegal memory access was encountered")
        send(store, ("set", "%d/%d/%d" % (life, step, rank), slope))
        total = 0
        for other in range(3):
            send(store, ("get", "%d/%d/%d" % (life, step, other), None))
            total += receive(store)
        model.step(total / 3)
        if rank == 0:
            log(step, model.loss)
        if Asked.save:
            return


def agent():
    role("agent")
    port = free_port()
    start(OWN + ["store", str(port)], "store")
    for life in range(3):
        workers = []
        for rank in range(3):
            env = dict(os.environ, RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank), MASTER_PORT=str(port))
            workers.append(start(OWN + ["work", str(port), str(life)], "rank%d" % rank, env=env))
        while all(w.poll() is None for w in workers):
            time.sleep(0.2)
        print("agent: a worker failed, ending the others", flush=True)
        for w in workers:
            w.terminate()
        for w in workers:
            w.wait()


if "store" in sys.argv:
    keep(int(sys.argv[2]))
elif "work" in sys.argv:
    work(int(os.environ["RANK"]), int(sys.argv[2]), int(sys.argv[3]))
else:
    agent()
