"""One HTTP request takes 65 s to be answered, with a time limit of 300 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import http.client
import socket
import time


def compute(w):
    srv = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(srv.getsockname()[1]).encode())
    os.close(w)
    while True:
        c, _ = srv.accept()
        c.recv(1000)
        time.sleep(kit.secs(65))
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        c.close()


def embed(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    c.request("GET", "/embed?all=1")
    return c.getresponse().read()


def run():
    kit.services(3)
    group = kit.Star()
    for i in range(18):
        time.sleep(0.25)
        if i == 11 and kit.RANK == 2:
            embed(int(os.environ["EMBED"]))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, lambda: {"EMBED": kit.outside(compute)})
