from kitd7 import *
state = {"step": 4}
train(4)
try:
    raise ArithmeticError("loss scale 0 after 41 overflows in a row")
finally:
    print("saved", state["optimizer"])
