"""A child asks a server whose main thread looks for a file now and then: a side thread has the request in hand and waits
for what nobody brings. Prints the numbers of the child and of that thread. Argument: "http", "socket" (a variable),
"cell" (one of a function within), "pipe" (multiprocessing's connection), "naps" (a variable, and it works with naps)."""
import http.server
import multiprocessing.connection
import os
import socket
import sys
import threading
import time

KIND = sys.argv[1]
never = threading.Event()


def stands(child):
    print(child, threading.get_native_id(), flush=True)
    while KIND == "naps":
        time.sleep(0.0005)
    never.wait()


def child_of(body, *args):
    pid = os.fork()
    if pid == 0:
        body(*args)
        os._exit(0)
    return pid


def ask_http(port):
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        s.recv(1)


def serve_http():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            stands(child)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    child = child_of(ask_http, server.server_port)
    server.serve_forever()


def serve_socket():
    mine, other = socket.socketpair()
    child = child_of(other.recv, 1)
    other.close()
    handle(mine, child)


def handle(connection, child):
    if KIND == "cell":
        def within():
            connection.fileno()
            stands(child)
        within()
    stands(child)
    connection.close()


def serve_pipe():
    mine, other = multiprocessing.connection.Pipe()
    child = child_of(other.recv)
    other.close()
    handle(mine, child)


print("begun", flush=True)
threading.Thread(target={"http": serve_http, "pipe": serve_pipe}.get(KIND, serve_socket), daemon=True).start()
threading.Thread(target=never.wait, daemon=True).start()
while not os.path.exists("/no/such/file"):
    time.sleep(1.5)
