from kitd7 import *
train(4)
subprocess.run(["sleep", "77"], timeout=2)
