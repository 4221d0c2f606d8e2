from kitd6 import *
os.makedirs("pkg6", exist_ok=True)
open("pkg6/__init__.py", "w").close()
open("pkg6/model.py", "w").write("from pkg6.layers import Block\nWIDTH = 8\n")
open("pkg6/layers.py", "w").write("from pkg6.model import WIDTH\nclass Block: pass\n")
sys.path.insert(0, ".")
print("loading the model", flush=True)
import pkg6.model
