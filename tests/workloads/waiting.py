"""Programs that wait for each other: waiting.py MODE [ARG…]. Prints "begun" when what it is for stands.

ring PORT       rank of a ring (RANK, WORLD_SIZE): each waits for bytes of the rank before it, none sends
lock            the main thread waits for a lock that another thread holds, which reads a pipe that nobody else has
pipe            a child writes more than a pipe holds while its parent waits for the child's end
work            spins
threads N       N threads that wait for locks
"""
import os
import socket
import subprocess
import sys
import threading
import time


def say():
    print("begun", flush=True)


def ring(port):
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(port) + rank))
    server.listen()
    while True:
        try:
            after = socket.create_connection(("127.0.0.1", int(port) + (rank + 1) % size))
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    before, _ = server.accept()
    server.close()
    say()
    before.recv(1)
    after.close()


def lock():
    taken, held = threading.Lock(), threading.Event()
    reader, _writer = os.pipe()

    def hold():
        with taken:
            held.set()
            os.read(reader, 1)
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    say()
    with taken:
        pass


def pipe():
    child = subprocess.Popen([sys.executable, "-c", "import os; os.write(1, b'x' * 1000000)"], stdout=subprocess.PIPE)
    say()
    child.wait()


def work():
    say()
    while True:
        pass


def threads(n):
    many = int(n)
    locks = [threading.Lock() for _ in range(many)]
    up = threading.Semaphore(0)

    def rest(own):
        own.acquire()
        up.release()
        own.acquire()
    for own in locks:
        threading.Thread(target=rest, args=(own,), daemon=True).start()
    for _ in locks:
        up.acquire()
    say()
    locks[0].acquire()


MODES = {"ring": ring, "lock": lock, "pipe": pipe, "work": work, "threads": threads}
MODES[sys.argv[1]](*sys.argv[2:])
