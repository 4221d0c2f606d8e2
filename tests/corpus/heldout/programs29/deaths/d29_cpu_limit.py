"""The shell's `ulimit -t` strikes: a training on the login node has used its seconds of a processor."""
import resource

from kitd29 import role, steps

role("main")
steps(10)
resource.setrlimit(resource.RLIMIT_CPU, (2, 10))
x = 1.0
while True:
    x = x * 0.9999 + 1
