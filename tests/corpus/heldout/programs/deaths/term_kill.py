"""Somebody outside with a grace time: SIGTERM, and SIGKILL two seconds later."""
from job import *

pid = pid_of("main", 60)
time.sleep(1.5)
role("outsider")
os.kill(pid, signal.SIGTERM)
time.sleep(2)
os.kill(pid, signal.SIGKILL)
