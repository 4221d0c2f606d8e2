"""A fast kernel is imported where it is first used, and is not installed."""
from kitd22 import told


def attention(kind):
    if kind == "flash":
        import flash_attention_kernels
        return flash_attention_kernels.forward
    return sum


told(10)
attention("plain")
told(10, 10)
attention("flash")
