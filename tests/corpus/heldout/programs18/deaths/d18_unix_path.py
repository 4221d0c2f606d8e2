"""The socket of a monitor is in the folder of a run, whose name is made of its settings."""
from kitd18 import *

folder = "runs/" + "-".join("%s_%d" % (name, k) for k, name in enumerate(["width", "depth", "warmup", "seed", "decay"] * 3))
os.makedirs(folder)
told(20)
monitor = socket.socket(socket.AF_UNIX)
monitor.bind(os.path.abspath(os.path.join(folder, "monitor.sock")))
told(20, 20)
