"""A job in the background of a terminal: its shell has put it into a process group that is not in front, and a tool of it asks the
terminal for a passphrase. The kernel stops it."""
import fcntl
import os
import pty
import subprocess
import sys
import termios
import time

import kit9

ASK = "import sys; print('decrypting shard key'); t = open('/dev/tty'); print('got', len(t.readline()))"


def job():
    """As the shell starts it: a group of its own, not in front."""
    os.setpgid(0, 0)
    kit9.role("main")
    for s in range(15):
        kit9.crunch(0.2)
        kit9.step(0, s, 40)
    tool = subprocess.Popen([sys.executable, "-c", ASK])
    kit9.role("decrypt", tool.pid)
    print("decrypt ended with", tool.wait(), flush=True)


def shell():
    """The leader of the session, with the terminal; itself in front."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    kit9.with_parent()
    kit9.role("shell")
    child = os.fork()
    if not child:
        kit9.with_parent()
        job()
        os._exit(0)
    while os.waitpid(child, os.WUNTRACED)[1] & 0xFF == 0x7F:
        time.sleep(0.1)
    os._exit(0)


master, slave = pty.openpty()
pid = os.fork()
if not pid:
    shell()
os.waitpid(pid, 0)
