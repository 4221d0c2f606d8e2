import mmap

from kitd10 import *

with open("tokens.bin", "wb") as f:
    f.write(bytes(1 << 20))
with open("tokens.bin", "rb") as f:
    data = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
epochs(6)
os.truncate("tokens.bin", 4096)  # somebody writes the file anew
epochs(2)
print(data[1 << 19])
