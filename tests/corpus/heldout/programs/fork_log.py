"""A child is forked while another thread has the lock; the child wants it."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
import time

guard = threading.Lock()


def writer():
    while True:
        with guard:
            time.sleep(0.4)
        time.sleep(0.01)


def spawn_saver():
    while not guard.locked():
        time.sleep(0.01)
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        kit.die_with_parent()
        kit.role("saver1")
        with guard:
            print("saved", flush=True)
        os._exit(0)
    os.waitpid(pid, 0)


def run():
    comm = kit.Star()
    if kit.rank() == 1:
        threading.Thread(target=writer, daemon=True).start()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 1:
            spawn_saver()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
