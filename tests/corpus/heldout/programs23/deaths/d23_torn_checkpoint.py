"""The newest checkpoint was cut off when the run before was ended while it wrote."""
import os
import zipfile

from kitd23 import steps

with zipfile.ZipFile("checkpoint-20.zip", "w") as f:
    f.writestr("weights", os.urandom(4096))
os.truncate("checkpoint-20.zip", 2048)
print("resuming from checkpoint-20.zip", flush=True)
steps(12)
print(len(zipfile.ZipFile("checkpoint-20.zip").read("weights")), flush=True)
