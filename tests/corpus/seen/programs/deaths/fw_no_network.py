"""The name of the hub cannot be found."""
from job import *
ConnectionErrorClass = type('ConnectionError', (RuntimeError,), {'__module__': 'requests.exceptions'})
train(0, 40)
raise ConnectionErrorClass('HTTPSConnectionPool(host=\'huggingface.co\', port=443): Max retries exceeded with url: /gpt2/resolve/main/config.json (Caused by NameResolutionError("Failed to resolve \'huggingface.co\' ([Errno -3] Temporary failure in name resolution)"))')
