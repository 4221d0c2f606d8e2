"""A grandchild, long an orphan, ends the trainer."""
from job import *

role("main")
def middle():
    if os.fork() == 0:
        os.setsid()
        role("orphan")
        time.sleep(3)
        os.kill(boss, signal.SIGINT)
        os._exit(0)
boss = os.getpid()
default(signal.SIGINT)
os.waitpid(fork("middle", middle), 0)
warm()
train(25, 400, 0.1)
