"""Somebody outside: SIGSTOP, and SIGKILL a while later."""
from job import *

pid = pid_of("main", 60)
time.sleep(1.5)
role("outsider")
os.kill(pid, signal.SIGSTOP)
time.sleep(1)
os.kill(pid, signal.SIGKILL)
