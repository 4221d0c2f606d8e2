"""TensorFlow: no GPU memory left."""
from job import *
ResourceExhaustedErrorClass = type('ResourceExhaustedError', (RuntimeError,), {'__module__': 'tensorflow.python.framework.errors_impl'})
train(0, 40)
raise ResourceExhaustedErrorClass('OOM when allocating tensor with shape[256,1024,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc')
