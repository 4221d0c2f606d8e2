"""A limit of processor time, as an administrator sets it."""
import resource

from kitd27 import role, steps

role("main")
resource.setrlimit(resource.RLIMIT_CPU, (3, 60))
steps(20)
x = 1.0
while True:
    x = x * 0.999 + 1
