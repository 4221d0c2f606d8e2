from kitd7 import *


def fetch(n):
    if n == 2:
        raise ConnectionResetError(104, "Connection reset by peer")


for n in range(5):
    try:
        fetch(n)
    except OSError:
        traceback.print_exc()
        say("retry 1 of 5")
    train(2, n * 2)
[1, 2, 3][7]
