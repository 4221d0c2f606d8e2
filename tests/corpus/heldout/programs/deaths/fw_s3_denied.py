"""The bucket refuses."""
from job import *
ClientErrorClass = type('ClientError', (RuntimeError,), {'__module__': 'botocore.exceptions'})
train(0, 40)
raise ClientErrorClass('An error occurred (AccessDenied) when calling the GetObject operation: Access Denied')
