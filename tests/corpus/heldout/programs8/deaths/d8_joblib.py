import joblib
from kitd8 import *


def fit_one(depth):
    if depth == 5:
        raise ValueError("min_samples_leaf must be positive, got -1")
    return depth


print(joblib.Parallel(n_jobs=2)(joblib.delayed(fit_one)(d) for d in range(8)))
