"""A thread of metrics dies, the training ends well."""
from job import *

def metrics():
    raise ConnectionRefusedError(111, "Connection refused")
t = threading.Thread(target=metrics)
t.start()
t.join()
train(0, 60)
print("training finished")
