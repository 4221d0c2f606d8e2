"""It sends itself SIGUSR2, nobody handles it."""
from job import *
role('main')
default(signal.SIGUSR2)
warm()
os.kill(os.getpid(), signal.SIGUSR2)
time.sleep(1)
