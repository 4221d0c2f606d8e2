"""The weights to go on from are a pointer of git-lfs, a small text: nobody has fetched the file itself."""
import pickle

from kitd20 import *

with open("encoder.bin", "w") as f:
    f.write("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 438007537\n")
told(20)
say("loading the teacher")
with open("encoder.bin", "rb") as f:
    teacher = pickle.load(f)
told(20, 20)
