"""More and more children, none of them is large."""
from mem import *

role("main")
for i in range(100):
    def child():
        keep = block(20)
        steady()
    fork("kid", child)
    time.sleep(0.2)
