from kitd9 import *

role("main")


def leave(number, frame):
    print("SIGTERM received: saving checkpoint and exiting", flush=True)
    sys.exit(143)


signal.signal(signal.SIGTERM, leave)
batches(400)
