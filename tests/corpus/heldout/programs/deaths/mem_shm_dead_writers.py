"""Short children each leave a file in /dev/shm and end: nobody holds the memory."""
from mem import *

role("main")
for i in range(200):
    os.waitpid(fork("writer", lambda: shm_file(i, 16)), 0)
    print("step", i, flush=True)
    time.sleep(0.15)
