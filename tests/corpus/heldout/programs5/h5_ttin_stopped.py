"""A launcher has a terminal; its ranks run in the background, as a shell would start them. Rank 1 asks the terminal a question."""
import fcntl
import os
import pty
import subprocess
import sys
import termios

import kit5


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    for step in range(1000):
        kit5.crunch(0.2)
        mesh.reduce(1)
        if rank == 1 and step == 9:
            with open("/dev/tty") as terminal:
                terminal.readline()
        if rank == 0:
            print("step", step, flush=True)


def launch():
    kit5.role("launcher")
    if os.getpid() != os.getsid(0):
        if os.fork():
            os.wait()
            return
        kit5.with_parent()
        kit5.role("launcher")
        os.setsid()
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 1)
    port, procs = str(kit5.free_port()), []
    for r in range(3):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="3", MASTER_PORT=port)
        procs.append(subprocess.Popen([sys.executable, __file__], env=env, process_group=0))
    for p in procs:
        p.wait()
    os.close(screen)


if "RANK" in os.environ:
    kit5.ranks(3, train)
else:
    launch()
