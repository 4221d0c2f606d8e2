import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps(400)
role("main")
ranks = launch(2, __file__, "env")
try:
    first_bad(ranks)
except KeyboardInterrupt:
    say("launcher: interrupted, ending 2 ranks")
    stop(ranks)
    sys.exit(130)
