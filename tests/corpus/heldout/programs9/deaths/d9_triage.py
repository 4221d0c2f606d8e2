from kitd9 import *

OLD = ["Traceback (most recent call last):", '  File "train.py", line 88, in <module>', "RuntimeError: CUDA error: an illegal memory access was encountered",
       "Segmentation fault (core dumped)", "torch.OutOfMemoryError: CUDA out of memory."]
for k in range(12):
    print("log of job %d says:" % (4100 + k), OLD[k % len(OLD)], flush=True)
    time.sleep(0.2)
print("triage: 12 logs read, report written", flush=True)
