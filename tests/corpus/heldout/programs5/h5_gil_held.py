"""A thread of rank 1 waits for a device in a native call that keeps the interpreter's lock."""
import ctypes
import threading

import kit5


def wait_for_device():
    ctypes.PyDLL(None).pause()


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        if rank == 1 and step == 10:
            threading.Thread(target=wait_for_device, daemon=True).start()
        group.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


kit5.ranks(4, train)
