"""A key-value store in rank 0; all wait for the key of rank 3, which asks a licence server first."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import threading
import time


class Store:
    def __init__(self, srv):
        self.data, self.cv = {}, threading.Condition()
        self.srv = srv

    def loop(self):
        while True:
            c, _ = self.srv.accept()
            threading.Thread(target=self.client, args=(c,), daemon=True).start()

    def client(self, c):
        while True:
            op, k, v = kit.recv_msg(c)
            with self.cv:
                if op == "set":
                    self.data[k] = v
                    self.cv.notify_all()
                else:
                    self.cv.wait_for(lambda: k in self.data)
                kit.send_msg(c, self.data[k])


def fetch_licence():
    s = socket.create_connection(("127.0.0.1", int(os.environ["LICENCE_PORT"])))
    s.sendall(b"CHECKOUT trainer 2.1\n")
    return s.recv(100)


def run():
    if kit.RANK == 0:
        st = Store(socket.create_server(("127.0.0.1", int(os.environ["MASTER_PORT"]))))
        threading.Thread(target=st.loop, daemon=True).start()
    s = kit.dial(int(os.environ["MASTER_PORT"]))

    def call(*m):
        kit.send_msg(s, m)
        return kit.recv_msg(s)

    print(f"rank {kit.RANK} started", flush=True)
    if kit.RANK == 3:
        fetch_licence()
    call("set", f"addr{kit.RANK}", "127.0.0.1")
    for r in range(kit.WORLD):
        call("get", f"addr{r}", None)
    for i in range(100):
        time.sleep(0.3)
        kit.step(i)


kit.main(4, run, lambda: {"LICENCE_PORT": kit.outside(kit.mute_server)})
