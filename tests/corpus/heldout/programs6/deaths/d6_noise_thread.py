from kitd6 import *
def flush():
    stop.wait()
    time.sleep(0.3)
    raise BrokenPipeError(32, "Broken pipe")
stop = threading.Event()
threading.Thread(target=flush, name="metrics-flush").start()
try:
    epochs(8)
    schedule = {"cosine": 1}
    print(schedule["warmup_stable_decay"])
finally:
    stop.set()
