"""An NCCL warning at the start, then an import error of the evaluation."""
from job import *

print("node1:301:301 [0] NCCL WARN Failed to open libibverbs.so[.1]", flush=True)
print("node1:301:301 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>", flush=True)
train(0, 150, 0.003)
import evaluate_that_is_not_there
