"""A notebook-like kernel: a driver sends a cell now and then, the kernel idles in select."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import select
import socket
import time


def kernel(s):
    kit.die_with_parent()
    kit.role("kernel")
    space = {}
    while True:
        r, _, _ = select.select([s], [], [])
        cell = kit.take(s)
        if cell is None:
            return
        exec(cell, space)
        kit.put(s, "ok")


def main():
    a, b = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        a.close()
        kernel(b)
        os._exit(0)
    kit.role("main")
    b.close()
    for cell, pause in (("x = 1", 2), ("y = [i for i in range(1000)]", 3), ("print('loss', 0.5, flush=True)", 58), ("x += 1", 1)):
        kit.put(a, cell)
        print("cell", kit.take(a), flush=True)
        time.sleep(pause)
    kit.put(a, None)
    os.waitpid(pid, 0)


main()
