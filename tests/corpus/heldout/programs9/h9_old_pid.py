"""Main waits until the process of a pid file has ended. That one has ended long ago; the pid in the file now is an exporter's."""
import os
import sys
import time

import kit9


def alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


kit9.role("main")
exporter = kit9.start([sys.executable, "-c", "import time\nwhile True: time.sleep(15)"], "exporter")
with open("preprocess.pid", "w") as f:
    f.write(str(exporter.pid))
for s in range(10):
    kit9.crunch(0.2)
    kit9.step(0, s, 10)
print("waiting for preprocessing of the next stage", flush=True)
while alive(int(open("preprocess.pid").read())):
    time.sleep(2)
print("next stage", flush=True)
