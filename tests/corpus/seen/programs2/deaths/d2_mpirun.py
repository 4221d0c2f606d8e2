import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    open("/data/none/mesh.h5")
time.sleep(20)
