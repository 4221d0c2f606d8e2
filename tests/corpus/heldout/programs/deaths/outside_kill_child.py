"""A helper is killed from outside; the job says that it cannot go on without."""
from job import *

def helper():
    time.sleep(100)
pid = fork("helper", helper)
train(0, 10)
_, st = os.waitpid(pid, 0)
print(f"replay server ended with wait status {st}, giving up", flush=True)
sys.exit(1)
