"""A kernel does not fit."""
from job import *
OutOfResourcesClass = type('OutOfResources', (RuntimeError,), {'__module__': 'triton.runtime.errors'})
train(0, 40)
raise OutOfResourcesClass('out of resource: shared memory, Required: 180224, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.')
