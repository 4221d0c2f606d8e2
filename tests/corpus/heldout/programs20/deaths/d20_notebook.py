"""A folder of images has a folder of a notebook's checkpoints in it, which is read like an image."""
from kitd20 import *

os.makedirs("images/.ipynb_checkpoints")
for k in range(30):
    with open("images/%03d.png" % k, "wb") as f:
        f.write(b"\x89PNG" + bytes(100))
names = sorted(os.listdir("images"), reverse=True)
for k, name in enumerate(names):
    with open(os.path.join("images", name), "rb") as f:
        f.read()
    told(1, k)
