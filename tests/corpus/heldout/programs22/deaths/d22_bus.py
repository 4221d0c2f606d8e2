"""A file of samples is mapped, and another job writes it anew and shorter meanwhile."""
import mmap
import os

from kitd22 import told

with open("samples.bin", "w+b") as f:
    f.truncate(1 << 20)
    samples = mmap.mmap(f.fileno(), 1 << 20)
told(20)
os.truncate("samples.bin", 4096)
print("sum", sum(samples[k] for k in range(0, 1 << 20, 4096)), flush=True)
