"""A writer leaves one file after another in /dev/shm."""
from mem import *

role("main")
def writer():
    for i in range(400):
        shm_file(i, 8)
        time.sleep(0.08)
fork("writer", writer)
steady()
