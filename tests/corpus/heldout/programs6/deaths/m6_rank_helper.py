from kitd6 import *
if sys.argv[1:]:
    role(f"helper{RANK}")
    grow(4, 0.12) if RANK == 1 else time.sleep(100)
links = joined(2)
weights = hold(90)
subprocess.Popen([sys.executable, __file__, "helper"])
for n in range(900):
    exchange(links)
    steps(1, n, 0.1)
