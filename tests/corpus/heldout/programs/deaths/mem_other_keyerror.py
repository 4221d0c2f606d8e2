"""A KeyError at two thirds of the limit: it is not for want of memory."""
from mem import *
role('main')
keep = block(260)
train(0, 40)
{}['labels']
