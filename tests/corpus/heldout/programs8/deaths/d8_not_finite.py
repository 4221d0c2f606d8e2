from kitd8 import *
loss = 2.0
for s in range(14):
    log.info("step %d loss %s", s, loss)
    loss = loss * 1.1 if s < 10 else math.nan
    time.sleep(0.15)
    if s == 13:
        raise FloatingPointError("loss is not finite for 3 steps, last was nan")
