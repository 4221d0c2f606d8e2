from kitd6 import *
if sys.argv[1:] == ["cache"]:
    role("cacher")
    kept = grow(10, 0.1, 180)
    time.sleep(100)
if sys.argv[1:] == ["score"]:
    role("scorer")
    time.sleep(5)
    grow(3, 0.15)
role("main")
for what in ("cache", "score"):
    subprocess.Popen([sys.executable, __file__, what])
steps(900, pause=0.1)
