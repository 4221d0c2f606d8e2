"""Downloads in threads, two at a time; one that fails keeps its slot."""
import threading

import kit4

slots = threading.Semaphore(2)


def fetch(k, files):
    slots.acquire()
    kit4.crunch(0.2)
    if k % 11 == 7:
        print("file %d: checksum is wrong, skipped" % k, flush=True)
        return
    files[k] = bytes(100)
    slots.release()
    print("file %d fetched" % k, flush=True)


kit4.role("main")
files = {}
threads = [threading.Thread(target=fetch, args=(k, files), name="fetch-%d" % k) for k in range(30)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(files), "files")
