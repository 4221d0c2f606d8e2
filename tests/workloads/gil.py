"""One thread calls C that keeps the interpreter's lock for an hour, another one wants to run: says "begun" before."""
import ctypes
import threading

held = ctypes.PyDLL(None).sleep  # PyDLL does not let go of the lock


def wants_it():
    while True:
        pass


print("begun", flush=True)
threading.Thread(target=wants_it, daemon=True, name="wants it").start()
held(3600)
