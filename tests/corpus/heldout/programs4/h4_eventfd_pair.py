"""Double buffering between a decoder and a trainer with two eventfds; a buffer's turn is lost when one is skipped."""
import os

import kit4

kit4.role("main")
full, free = os.eventfd(0), os.eventfd(2, os.EFD_SEMAPHORE)
if os.fork() == 0:
    kit4.with_parent()
    kit4.role("decoder")
    for k in range(1000):
        os.eventfd_read(free)
        if k % 7 == 6:
            continue
        kit4.crunch(0.1)
        os.eventfd_write(full, 1)
for i in range(1000):
    os.eventfd_read(full)
    kit4.crunch(0.25)
    os.eventfd_write(free, 1)
    print("trained on buffer %d" % (i % 2), flush=True)
