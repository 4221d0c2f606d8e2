"""unitjob.py KIND [ARGUMENT]: jobs that the node service finds by this file's name."""
import os
import socket
import sys
import time

MIB = 1 << 20


def steps():
    step = 0
    while True:
        step += 1
        print(f"step {step} loss {1 / step:.4f}", flush=True)
        time.sleep(0.5)


def answer_wait(end):
    return end.recv(1)


def both_wait():
    """Two processes, each of which waits for what only the other one could send."""
    one, other = socket.socketpair()
    if os.fork():
        other.close()
        answer_wait(one)
    else:
        one.close()
        answer_wait(other)
    os._exit(0)


def grow(go):
    """From the moment at which this file is there, 40 MiB a second."""
    while not os.path.exists(go):
        time.sleep(0.05)
    held = []
    while True:
        held.append(bytearray(b"1") * (2 * MIB))
        time.sleep(0.05)


def hold(mib):
    """What the kernel's killer takes first."""
    with open("/proc/self/oom_score_adj", "w") as f:
        f.write("1000")
    held = bytearray(b"1") * (int(mib) * MIB)
    time.sleep(600)
    return held


globals()[sys.argv[1]](*sys.argv[2:])
