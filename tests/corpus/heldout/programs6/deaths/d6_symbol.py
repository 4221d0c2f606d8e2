from kitd6 import *
print("loading kernels", flush=True)
lib = ctypes.CDLL("libm.so.6")
for name in ("expf", "tanhf", "fused_layer_norm_fwd"):
    getattr(lib, name)
