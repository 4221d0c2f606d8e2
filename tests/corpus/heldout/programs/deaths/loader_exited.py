"""Loader workers left unexpectedly; one of them said why before."""
from job import *

def load():
    time.sleep(0.5)
    print("cv2.error: OpenCV(4.8.0) error: (-4:Insufficient memory) Failed to allocate 33177600 bytes in function 'OutOfMemoryError'", file=sys.stderr, flush=True)
    os._exit(1)
pid = fork("loader", load)
train(0, 5)
os.waitpid(pid, 0)
raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly")
