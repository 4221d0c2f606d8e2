"""It sends itself SIGKILL."""
from job import *
role('main')
warm()
os.kill(os.getpid(), signal.SIGKILL)
time.sleep(1)
