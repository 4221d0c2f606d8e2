"""The program prints lines of a kernel log of another node."""
from job import *

print("dmesg of node9: Out of memory: Killed process 4242 (python3) total-vm:9000000kB", flush=True)
train(0, 150, 0.004)
sys.exit("node9 is not healthy, leaving before the first epoch")
