from kitd6 import *
logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
def push(n):
    raise ConnectionResetError(104, "Connection reset by peer")
for n in range(1, 60):
    epochs(1, n, 0.08)
    if n in (6, 7):
        try:
            push(n)
        except OSError:
            logging.exception("metrics were not pushed, will try again")
    if n == 50:
        raise FloatingPointError("gradient of layers.3.mlp is not finite at epoch 50")
