from kitd7 import *
role("main")
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    train(1000)
except KeyboardInterrupt:
    say("interrupted, saving last.ckpt")
    sys.exit(130)
