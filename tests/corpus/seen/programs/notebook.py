"""A notebook kernel: idle between two cells, 80 s in all."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import selectors
import socket
import threading
import time


def kernel(s):
    sel = selectors.DefaultSelector()
    sel.register(s, selectors.EVENT_READ)
    n = 0
    while True:
        sel.select()
        line = s.recv(1000)
        if not line or line == b"quit":
            return
        n += 1
        print(f"cell [{n}]: {eval(line)}", flush=True)


kit.role("kernel")
a, b = socket.socketpair()


def user():
    for k in range(8):
        time.sleep(0.4)
        a.send(b"2 ** %d" % k)
    time.sleep(kit.secs(75))
    a.send(b"6 * 7")
    time.sleep(0.5)
    a.send(b"quit")


threading.Thread(target=user).start()
kernel(b)
