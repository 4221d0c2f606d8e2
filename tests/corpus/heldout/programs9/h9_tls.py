"""Metrics go to a collector by TLS since the last release. The collector here is of the release before: it waits for the empty
line that ends a head."""
import socket
import ssl
import sys

import kit9


def collect(port):
    door = kit9.listen(port)
    while True:
        link, _ = door.accept()
        head = b""
        while b"\r\n\r\n" not in head:
            head += link.recv(4096)
        link.sendall(b"ok\n")


def connect(port, secure):
    link = kit9.dial(port)
    if not secure:
        return link
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(link, server_hostname="metrics.internal")


if sys.argv[1:2] == ["collect"]:
    collect(int(sys.argv[2]))
kit9.role("main")
port = kit9.free_port()
kit9.start([sys.executable, sys.argv[0], "collect", str(port)], "collector")
for s in range(12):
    kit9.crunch(0.2)
    kit9.step(0, s, 200)
print("connecting to metrics.internal", flush=True)
link = connect(port, secure=True)
link.sendall(b"loss 1.7\r\n\r\n")
assert link.recv(3) == b"ok\n" and isinstance(link, socket.socket)
