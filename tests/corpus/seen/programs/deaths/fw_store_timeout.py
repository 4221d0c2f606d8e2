"""The other nodes never came."""
from job import *
DistStoreErrorClass = type('DistStoreError', (RuntimeError,), {'__module__': 'torch.distributed'})
train(0, 40)
raise DistStoreErrorClass('Timed out after 1801 seconds waiting for clients. 1/2 clients joined.')
