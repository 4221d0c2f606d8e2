"""A health check child kills its parent with SIGKILL and ends."""
from job import *

role("main")
def check():
    time.sleep(3)
    os.kill(os.getppid(), signal.SIGKILL)
fork("check", check)
warm()
train(25, 400, 0.1)
