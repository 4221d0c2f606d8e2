"""A server that sends all its state while a client sends all of its own."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import selectors

BIG = bytes(24 << 20)


def serve(p):
    kit.die_with_parent()
    kit.role("server")
    s = kit.bind(p)
    sel = selectors.DefaultSelector()
    sel.register(s, selectors.EVENT_READ)
    while True:
        for key, _ in sel.select():
            if key.fileobj is s:
                sel.register(s.accept()[0], selectors.EVENT_READ)
                continue
            try:
                m = kit.take(key.fileobj)
            except SystemExit:
                sel.unregister(key.fileobj)
                continue
            kit.put(key.fileobj, BIG if m == "all" else b"ok")


def before(env):
    if os.fork() == 0:
        serve(int(env["MASTER_PORT"]))


def run():
    s = kit.dial(kit.port())
    kit.services(1)
    for i in range(1000):
        kit.work(0.3)
        if i == 13 and kit.rank() == 1:
            kit.put(s, "all")
            kit.put(s, BIG)
        kit.put(s, "g")
        kit.take(s)
        kit.step(i)


kit.go(3, run, before=before)
