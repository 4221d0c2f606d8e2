"""Features come from a lookup server in a process of its own."""
import os
import signal
import sys

import kit4


def serve(port):
    door = kit4.listen(port)
    s, _ = door.accept()
    for k in range(1000):
        word = kit4.receive(s)
        if k == 40:
            os.kill(os.getpid(), signal.SIGSTOP)
        kit4.send(s, [ord(c) for c in word])


def main():
    port = kit4.free_port()
    kit4.role("main")
    kit4.start([sys.executable, __file__, "serve", str(port)], "server")
    s = kit4.dial(port)
    for step in range(300):
        for k in range(4):
            kit4.send(s, "token%d" % (step * 4 + k))
            kit4.receive(s)
        kit4.crunch(0.2)
        print("\rtraining: %3d/300 [%s%s]" % (step, "#" * (step // 10), "." * (30 - step // 10)), end="", flush=True)


serve(int(sys.argv[2])) if sys.argv[1:2] == ["serve"] else main()
