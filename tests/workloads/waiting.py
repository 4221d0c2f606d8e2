"""Programs that wait for each other: waiting.py MODE [ARG…]. Prints "begun" when what it is for stands.

ring PORT       rank of a ring (RANK, WORLD_SIZE): each waits for bytes of the rank before it, none sends
lock            the main thread waits for a lock that another thread holds, which reads a pipe that nobody else has
pipe            a child writes more than a pipe holds while its parent waits for the child's end
work            spins
threads N       N threads that wait for locks
look WHAT       looks at shared memory every 20 ms; the child that should write there is stopped, or works
try FILE        tries every 20 ms to lock a file that a process outside of its own tree holds
shell           waits for a shell that waits for a file, with `sleep 1` in a loop
"""
import fcntl
import mmap
import os
import signal
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


def look(what):
    flag = mmap.mmap(-1, 4096)
    child = os.fork()
    if child == 0:
        if what == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        while os.getppid() > 1:
            pass
    if what == "stopped":
        os.waitpid(child, os.WUNTRACED)
    say()
    while flag[0] == 0:
        time.sleep(0.02)


def try_lock(path):
    file = open(path)
    say()
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.02)


def shell():
    child = subprocess.Popen(["sh", "-c", "until [ -e /nonexistent/done ]; do sleep 1; done"])
    say()
    child.wait()


MODES = {"ring": ring, "lock": lock, "pipe": pipe, "work": work, "threads": threads, "look": look, "try": try_lock, "shell": shell}
MODES[sys.argv[1]](*sys.argv[2:])
