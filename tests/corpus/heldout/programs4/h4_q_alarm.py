"""A job that begins at a given time: pause() until the alarm."""
import signal

import kit4

kit4.role("main")
signal.signal(signal.SIGALRM, lambda *_: None)
print("begins when the night's tariff does", flush=True)
signal.alarm(66)
signal.pause()
for i in range(10):
    kit4.crunch(0.2)
    print("step", i, flush=True)
