"""Each rank opens its own server of metrics, at one and the same port: rank 1 is told that it is taken."""
from kitd17 import *

ranks = Ranks()
for k in range(20):
    ranks.step(k)
time.sleep(0.6 * RANK)
metrics = socket.socket()
metrics.bind(("127.0.0.1", int(os.environ["MASTER_PORT"]) + 1))
metrics.listen()
for k in range(20, 400):
    ranks.step(k)
