"""A helper was killed long before the job notices."""
from job import *

def helper():
    time.sleep(100)
pid = fork("helper", helper)
train(0, 60, 0.1)
_, st = os.waitpid(pid, os.WNOHANG)
sys.exit(f"feature server does not answer (wait status {st})" if st else 0)
