"""JAX: no GPU memory left."""
from job import *
XlaRuntimeErrorClass = type('XlaRuntimeError', (RuntimeError,), {'__module__': 'jaxlib.xla_extension'})
train(0, 40)
raise XlaRuntimeErrorClass('RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.')
