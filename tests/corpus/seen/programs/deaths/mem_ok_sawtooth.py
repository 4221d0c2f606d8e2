"""It rises to two thirds of its limit again and again."""
from mem import *
role('main')
for i in range(6):
    b = block(250)
    train(i * 5, i * 5 + 5)
    del b
