"""Os._exit; the reason is in a log file only."""
from job import *

train(0, 10)
with open("train.log", "a") as f:
    f.write("2026-01-05 10:00:01 INFO step 9\n2026-01-05 10:00:02 CRITICAL licence server said no: 0 seats left\n")
os._exit(6)
