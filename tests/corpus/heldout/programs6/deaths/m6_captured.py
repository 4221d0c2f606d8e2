from kitd6 import *
if sys.argv[1:]:
    role("trainer")
    weights = hold(180)
    for n in range(3000):
        print(n, "debug " + "x" * 300000, flush=True)
        time.sleep(0.02)
    sys.exit()
role("launcher")
p = subprocess.Popen([sys.executable, __file__, "train"], stdout=subprocess.PIPE)
lines = []
for line in p.stdout:
    lines.append(line)
    if len(lines) % 25 == 0:
        print("lines", len(lines), flush=True)
