"""It writes and reads a file of twice its limit: page cache is not the job's memory."""
from mem import *

role("main")
with open("big", "wb") as f:
    for i in range(600):
        f.write(b"q" * MIB)
        if i % 60 == 0:
            f.flush()
            os.fsync(f.fileno())
for _ in range(2):
    with open("big", "rb") as f:
        while f.read(MIB):
            pass
os.unlink("big")
train(0, 10)
