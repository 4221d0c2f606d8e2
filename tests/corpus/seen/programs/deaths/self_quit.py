"""It sends itself SIGQUIT."""
from job import *
role('main')
default(signal.SIGQUIT)
warm()
os.kill(os.getpid(), signal.SIGQUIT)
time.sleep(1)
