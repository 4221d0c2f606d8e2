"""A store has room for six objects. Mappers put theirs in, the reducer takes hold of all eight before it begins and gives none back; two
mappers wait for room, and the reducer for their objects."""
import threading
from multiprocessing.connection import Client, Listener

import kit10

ROOM, MAPPERS = 6, 4


def serve(path):
    change, objects = threading.Condition(), {}

    def talk(link):
        while True:
            what, key, value = link.recv()
            with change:
                if what == "put":
                    change.wait_for(lambda: len(objects) < ROOM)
                    objects[key] = value
                elif what == "get":
                    change.wait_for(lambda: key in objects)
                    value = objects[key]
                else:
                    value = objects.pop(key)
                change.notify_all()
            link.send(value)

    def guarded(link):
        try:
            talk(link)
        except EOFError:
            pass
    with Listener(path) as door:
        while True:
            threading.Thread(target=guarded, args=(door.accept(),), daemon=True).start()


def ask(link, *words):
    link.send(words)
    return link.recv()


def connect(path):
    import time
    for _ in range(100):
        try:
            return Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.05)


def mapper(k, path):
    link = connect(path)
    for part in range(2):
        kit10.crunch(0.4)
        ask(link, "put", (k, part), b"x" * 1000)
        print("mapper %d: part %d stored" % (k, part), flush=True)


def reducer(path):
    link = connect(path)
    parts = [ask(link, "get", (k, part), None) for k in range(MAPPERS) for part in range(2)]
    for k in range(MAPPERS):
        ask(link, "free", (k, 0), None)
    print("reduced", len(parts), flush=True)


name, words = kit10.job()
if name == "store":
    serve(words[0])
elif name == "reducer":
    reducer(words[0])
elif name:
    mapper(int(name[6:]), words[0])
else:
    kit10.role("launcher")
    kit10.again("store", "store.sock")
    jobs = [kit10.again("mapper%d" % k, "store.sock") for k in range(MAPPERS)] + [kit10.again("reducer", "store.sock")]
    raise SystemExit(max(p.wait() for p in jobs))
