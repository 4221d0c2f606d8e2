from kitd8 import *
fit(6)
with open("tokens.bin", "wb+") as f:
    f.truncate(1 << 20)
    tokens = mmap.mmap(f.fileno(), 1 << 20)
    f.truncate(0)
print(tokens[70000])
