from kitd10 import *

role("main")
resource.setrlimit(resource.RLIMIT_CPU, (2, 10))
epochs(5, 0.1)
while True:
    math.sqrt(2.0)
