"""A person's tool has attached to rank 3 and keeps it stopped."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import ctypes
import time

PTRACE_ATTACH = 16


def inspector(pid):
    kit.die_with_parent()
    kit.role("inspector")
    time.sleep(5)
    lib = ctypes.CDLL(None, use_errno=True)
    lib.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if lib.ptrace(PTRACE_ATTACH, pid, None, None):
        print("cannot attach", ctypes.get_errno(), flush=True)
    while True:
        time.sleep(3600)


def run():
    comm = kit.Star()
    kit.services(1)
    if kit.rank() == 3:
        kit._libc.prctl(kit.PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
        me = os.getpid()
        if os.fork() == 0:
            inspector(me)
    for i in range(1000):
        kit.work(0.25)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
