from kitd6 import *
role("main")
for e in range(1, 400):
    end = time.time() + 0.2
    while time.time() < end:
        math.sqrt(e)
    epochs(1, e, 0)
