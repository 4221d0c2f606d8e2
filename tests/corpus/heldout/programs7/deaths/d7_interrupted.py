from kitd7 import *
role("main")
try:
    train(1000)
except KeyboardInterrupt:
    say("interrupted, saving last.ckpt")
    sys.exit(130)
