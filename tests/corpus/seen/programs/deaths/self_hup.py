"""It sends itself SIGHUP."""
from job import *
role('main')
default(signal.SIGHUP)
warm()
os.kill(os.getpid(), signal.SIGHUP)
time.sleep(1)
