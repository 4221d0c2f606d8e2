"""Ray says that its monitor ended a worker for memory."""
from job import *
train(0, 40)
print('ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.4, ID: ab12) where the task was running was 60.1GB / 62.8GB (0.957), which exceeds the memory usage threshold of 0.95.', file=sys.stderr, flush=True)
sys.exit(1)
