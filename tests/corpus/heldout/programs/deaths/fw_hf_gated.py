"""A model that needs a licence."""
from job import *
GatedRepoErrorClass = type('GatedRepoError', (RuntimeError,), {'__module__': 'huggingface_hub.errors'})
train(0, 40)
raise GatedRepoErrorClass('401 Client Error. (Request ID: Root=1-65)\n\nCannot access gated repo for url https://huggingface.co/meta/x/resolve/main/config.json.\nAccess to model meta/x is restricted. You must have access to it and be authenticated to access it. Please log in.')
