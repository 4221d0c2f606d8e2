"""The first attempt fails of a lost connection, the restarted one of its own error: the last counts."""
from job import *

role(f"rank{RANK}")
train(0, 20)
if os.environ["RESTART_COUNT"] == "0":
    raise ConnectionResetError(104, "Connection reset by peer")
train(20, 60)
if RANK == 1:
    raise TypeError("forward() missing 1 required positional argument: 'attention_mask'")
time.sleep(5)
