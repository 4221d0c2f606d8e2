from kitd8 import *
fit(4)
resource.setrlimit(resource.RLIMIT_CPU, (2, 8))
x = 1
while True:
    x = x * 3 % 1000003
