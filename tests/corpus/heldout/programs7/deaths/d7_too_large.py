from kitd7 import *
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
with open("model.safetensors", "wb", buffering=0) as f:
    for n in range(20):
        f.write(bytes(512 << 10))
        train(1, n)
