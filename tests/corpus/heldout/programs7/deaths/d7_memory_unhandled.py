from kitd7 import *
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
train(3)
kept = []
while True:
    kept.append(hold(20))
    time.sleep(0.05)
