from kitd10 import *


def prefetch(out):
    for k in range(6):
        out.put(k)
        time.sleep(0.3)
    raise ValueError("bad magic number in idx file: 0x4d5a (expected 0x4d4d4944)")


batches_in = queue.Queue()
thread = threading.Thread(target=prefetch, args=(batches_in,), daemon=True)
thread.start()
while True:
    try:
        print("batch", batches_in.get(timeout=1.5), flush=True)
    except queue.Empty:
        say("ERROR no batch for 1.5 s, giving up")
        os._exit(3)
