"""The name of a run is made of all of its settings."""
from kitd17 import *

settings = {"rate_%02d" % k: 0.0001 * k for k in range(30)}
name = "-".join("%s=%.6f" % x for x in settings.items())
told(20)
os.makedirs("runs", exist_ok=True)
with open("runs/%s.json" % name, "w") as f:
    json.dump(settings, f)
