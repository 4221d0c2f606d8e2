from kitd6 import *
import queue
errors = queue.Queue()
def load():
    for n in range(100):
        time.sleep(0.1)
        if n == 20:
            try:
                b"\xff\xfe1.5".decode("ascii")
            except UnicodeDecodeError as error:
                errors.put((n, error))
                return
threading.Thread(target=load).start()
for e in range(1, 100):
    epochs(1, e, 0.1)
    if not errors.empty():
        n, error = errors.get()
        raise RuntimeError(f"loader thread stopped at row {n}") from error
