"""A trainer in Java sends metrics to a service which is simple: it reads a head, then as many bytes as it tells,
and answers. The sixth message is large, the trainer waits to be told to go on ("Expect: 100-continue"), which
the service does not know: it waits for the body."""
import re
import sys

from kit13 import HERE, free_port, listen, me, role, start


def serve(port):
    me("service")
    listener = listen(port)
    print("ready", flush=True)
    while True:
        peer, _ = listener.accept()
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                part = peer.recv(65536)
                if not part:
                    break
                data += part
            if b"\r\n\r\n" not in data:
                break
            head, data = data.split(b"\r\n\r\n", 1)
            size = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
            while len(data) < size:
                data += peer.recv(65536)
            data = data[size:]
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def main():
    role("launcher")
    port = str(free_port())
    server = start([sys.executable, sys.argv[0], "serve", port], "service", stdout=-1)
    server.stdout.readline()
    sys.exit(start(["java", HERE + "/h13_expect.java", port], "main").wait())


if __name__ == "__main__":
    serve(int(sys.argv[2])) if sys.argv[1:] else main()
