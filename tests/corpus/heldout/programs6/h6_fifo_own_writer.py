"""A scorer opens its FIFO for reading and writing, so as not to wait for a writer. The writer has left with 0; there is no end of file."""
import os

import kit6


def write():
    kit6.role("sampler")
    with open("requests", "w") as f:
        for n in range(25):
            kit6.crunch(0.15)
            print("sample %d" % n, file=f, flush=True)
    os._exit(0)


kit6.role("main")
os.mkfifo("requests")
if os.fork() == 0:
    write()
for line in os.fdopen(os.open("requests", os.O_RDWR), "rb", 0):
    print("scored", line.decode().strip(), flush=True)
print("done")
