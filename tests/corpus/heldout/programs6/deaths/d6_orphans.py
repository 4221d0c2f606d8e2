from kitd6 import *
if sys.argv[1:]:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    steps(300, pause=0.1)
else:
    role("launcher")
    for p in launch(2, __file__, "env"):
        p.wait()
