"""The evaluator is stopped by SIGSTOP while the trainer needs the device, for 60 s, and gets SIGCONT when it may go on. The trainer tells its steps."""
import os
import signal
import time

from kit11 import again, crunch, job, role

if job()[0] == "evaluator":
    for k in range(20):
        time.sleep(0.3)
    print("evaluated: 0.83", flush=True)
else:
    role("main")
    p = again("evaluator")
    time.sleep(1)
    os.kill(p.pid, signal.SIGSTOP)
    for step in range(200):
        crunch(0.3)
        print("step %d of 200" % step, flush=True)
    os.kill(p.pid, signal.SIGCONT)
    p.wait()
