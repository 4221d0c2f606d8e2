"""A key server by hand; rank 1 reads a pipe whose only writer is itself. Args: services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

SRV, COPIES = map(int, sys.argv[1:3])


def before(env):
    if os.fork():
        return
    kit.die_with_parent()
    kit.role("server")
    s = kit.bind(int(env["MASTER_PORT"]))
    data, cv = {}, threading.Condition()

    def client(c):
        while True:
            try:
                op, k, v = kit.take(c)
            except SystemExit:
                return
            with cv:
                if op == "set":
                    data[k] = v
                    cv.notify_all()
                else:
                    cv.wait_for(lambda: k in data)
                    kit.put(c, data[k])
    while True:
        c, _ = s.accept()
        threading.Thread(target=client, args=(c,), daemon=True).start()


class Store:
    def __init__(self):
        self.s = kit.dial(kit.port())

    def set(self, k, v):
        kit.put(self.s, ("set", k, v))

    def get(self, k):
        kit.put(self.s, ("get", k, None))
        return kit.take(self.s)


class Mail:
    def __init__(self):
        self.r, self.w = os.pipe()

    def collect(self):
        return os.read(self.r, 100)


def run():
    st, mail = Store(), Mail()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 1:
            mail.collect()
        st.set("%d:%d" % (i, kit.rank()), 1)
        for o in range(kit.world()):
            st.get("%d:%d" % (i, o))
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before)
