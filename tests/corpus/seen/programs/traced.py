"""A debugger helper attached to rank 1 with ptrace, stopped it, and waits for its own user."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)


def debugger(pid):
    time.sleep(4)
    libc.ptrace(ctypes.c_long(16), ctypes.c_long(pid), None, None)     # PTRACE_ATTACH
    os.waitpid(pid, 0x40000000)
    r, w = os.pipe()
    os.read(r, 1)                                                      # the prompt


def run():
    group = kit.Star()
    if kit.RANK == 1:
        me = os.getpid()
        kit.fork_child("debugger", debugger, me)
    for i in range(1000):
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
