import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
steps(20)
say("slurmstepd: error: *** JOB 4711 ON node01 CANCELLED AT 2026-11-24T10:20:00 DUE TO TIME LIMIT ***")
steps(200)
