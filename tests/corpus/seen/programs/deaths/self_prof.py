"""It sends itself SIGPROF."""
from job import *
role('main')
default(signal.SIGPROF)
warm()
os.kill(os.getpid(), signal.SIGPROF)
time.sleep(1)
