"""It sends itself SIGUSR1, nobody handles it."""
from job import *
role('main')
default(signal.SIGUSR1)
warm()
os.kill(os.getpid(), signal.SIGUSR1)
time.sleep(1)
