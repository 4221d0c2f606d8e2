"""What was downloaded as a checkpoint is a page that tells an error."""
import pickle

from kitd14 import *

told(60)
with open("pytorch_model.bin", "wb") as f:
    f.write(b"<html><body>404</body></html>")
with open("pytorch_model.bin", "rb") as f:
    pickle.load(f)
