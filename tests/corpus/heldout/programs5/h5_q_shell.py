"""A session of bash on a pseudo terminal; whoever types makes a pause of 70 s."""
import os
import time

import kit5


def main():
    kit5.role("main")
    pid, screen = os.forkpty()
    if pid == 0:
        kit5.with_parent()
        kit5.role("shell")
        os.execvp("bash", ["bash", "--norc", "-i"])
    for n, pause in enumerate((1, 1, 70, 1)):
        time.sleep(pause)
        os.write(screen, b"echo line $((%d * 2))\n" % n)
        text = b""
        while b"line %d\r\n" % (n * 2) not in text:
            text += os.read(screen, 1000)
        print("typed", n, flush=True)
    os.write(screen, b"exit\n")
    os.waitpid(pid, 0)


main()
