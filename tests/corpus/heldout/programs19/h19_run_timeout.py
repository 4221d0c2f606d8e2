"""A trainer asks a tool for the state of its node each tenth step, by the shell, with a limit of 5 s: it kills what
it has started and reads the rest of its output. That is the shell. The tool, which waits for the answer of a service
that has never got its question, is alive and has the pipe open."""
import socket
import subprocess
import sys

from kit19 import crunch, role, told


def tool(step):
    role("tool")
    udp = (socket.AF_INET, socket.SOCK_DGRAM)
    with socket.socket(*udp) as link, socket.socket(*udp) as sink:
        link.bind(("127.0.0.1", 0))
        sink.bind(("127.0.0.1", 0))
        link.sendto(b"state?", link.getsockname() if step < 40 else sink.getsockname())
        link.recv(100)
    print("node healthy")


def state(step):
    ask = subprocess.Popen("%s %s tool %d | tail -n 1; true" % (sys.executable, __file__, step), shell=True,
                           stdout=subprocess.PIPE, text=True)
    try:
        return ask.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired:
        ask.kill()
        return ask.communicate()[0]


def train():
    role("main")
    for step in range(400):
        crunch(0.2)
        told(step)
        if step % 10 == 0:
            state(step)


if "tool" in sys.argv:
    tool(int(sys.argv[-1]))
else:
    train()
