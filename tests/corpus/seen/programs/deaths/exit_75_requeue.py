"""A job that asks to be queued again."""
from job import *

train(0, 20)
print("time budget of 4 h is used up, checkpoint is saved: exit 75 (requeue)", flush=True)
sys.exit(75)
