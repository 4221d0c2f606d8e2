"""Its own helper that reads the metrics has died of an error before: broken pipe."""
from job import *

p = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.readline(); raise ValueError('metric name is not ASCII')"], stdin=subprocess.PIPE)
for i in range(200):
    p.stdin.write(b"loss 1\n")
    p.stdin.flush()
    time.sleep(0.02)
