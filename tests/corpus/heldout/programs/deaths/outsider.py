"""Somebody who is no part of the job: sends a signal to a role of it and has ended long before anybody asks."""
import sys
from job import *

name, victim = sys.argv[1], sys.argv[2]
pid = pid_of(victim, 60)
time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 1.5)
role("outsider")
os.kill(pid, getattr(signal, "SIG" + name))
