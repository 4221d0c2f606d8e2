"""A child in a session of its own leaks, its parent has forgotten it."""
from mem import *

role("main")
def daemon():
    os.setsid()
    if os.fork() == 0:
        role("daemon")
        grow(80)
    os._exit(0)
os.waitpid(fork("short", daemon), 0)
steady()
