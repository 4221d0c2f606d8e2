"""NaN warnings are usual here; the job ended well."""
from job import *

for i in range(10):
    train(i * 10, i * 10 + 10, 0.003)
    print("WARNING: gradient overflow, loss is nan, skipping step, loss scale 32768.0", flush=True)
print("done")
