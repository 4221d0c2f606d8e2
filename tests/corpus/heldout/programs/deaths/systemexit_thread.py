"""SystemExit in a thread ends only that thread."""
from job import *

t = threading.Thread(target=lambda: sys.exit(5))
t.start()
t.join()
train(0, 10)
