"""It sends itself SIGINT with the default action."""
from job import *
role('main')
default(signal.SIGINT)
warm()
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1)
