"""Starts two Node ranks; rank 1 talks to an upstream outside that goes silent."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import shutil
import socket
import subprocess
import threading
import time


def upstream(w):
    srv = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(srv.getsockname()[1]).encode())
    os.close(w)
    n, kept = 0, []
    while True:
        c, _ = srv.accept()
        c.recv(1000)
        n += 1
        if n < 15:
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            c.close()
        else:
            kept.append(c)


def run():
    me = os.path.dirname(os.path.abspath(__file__))
    os.execv(shutil.which("node"), ["node", os.path.join(me, "nodefetch.js")])


kit.main(1, run, lambda: {"UPSTREAM": kit.outside(upstream)})
