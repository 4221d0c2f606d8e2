"""A thread that fails and a lost connection are told and overcome; the training ends well."""
import socket
import sys
import threading

from kitd24 import steps


def report():
    with socket.create_connection(("127.0.0.1", 9)):
        pass


steps(10)
thread = threading.Thread(target=report, name="reporter")
thread.start()
thread.join()
print("error: no reports from here on", file=sys.stderr, flush=True)
steps(10, 10)
print("Killed process 4711 (preprocess): restarted", file=sys.stderr, flush=True)
steps(10, 20)
print("run finished: 30 steps", flush=True)
