"""A library was updated and has lost a function that the model's code imports when it is loaded."""
import sys

from kitd21 import told

with open("hub_tools.py", "w") as f:
    f.write("def hf_download(name):\n    return name\n")
with open("modeling_custom.py", "w") as f:
    f.write("from hub_tools import cached_download\n\n\ndef build():\n    return cached_download('weights')\n")
sys.path.insert(0, ".")
told(20)
import modeling_custom  # noqa: E402
modeling_custom.build()
