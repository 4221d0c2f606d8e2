from kitd7 import *
rows = queue.Queue()


def read():
    for n in range(8):
        rows.put(n)
        time.sleep(0.1)
    sys.exit(3)


threading.Thread(target=read).start()
try:
    while True:
        print("row", rows.get(timeout=1.5), flush=True)
except queue.Empty:
    say("FATAL: no row for 1.5 s after row 7, reader thread is gone")
    sys.exit(1)
