"""A column of ages has an empty cell, which is not a number, and a batch makes whole numbers of them."""
from kitd20 import *

ages = ["31", "27", "", "44"] * 10


def number(text):
    return float(text) if text else float("nan")


def batch(k):
    rows = ages[k:k + 4] if k == 25 else ["31", "27", "50", "44"]
    return [int(number(text)) for text in rows]


for k in range(60):
    batch(k)
    told(1, k)
