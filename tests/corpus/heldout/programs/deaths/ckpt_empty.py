"""A checkpoint of 0 bytes."""
from job import *

open("last.pkl", "wb").close()
pickle.load(open("last.pkl", "rb"))
