"""It sends itself SIGTERM."""
from job import *
role('main')
default(signal.SIGTERM)
warm()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(1)
