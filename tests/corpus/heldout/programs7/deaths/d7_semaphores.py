from kitd7 import *
import atexit
atexit.register(say, "resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown")
train(4)
assert 50304 % 7 == 0, "vocabulary 50304 cannot be split over 7 parts"
