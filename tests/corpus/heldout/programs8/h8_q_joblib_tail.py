"""joblib with two processes; the last fit of a search over parameters takes 64 s."""
import joblib

import kit8


def fit(depth):
    kit8.compute(64 if depth == 24 else 0.3)
    return depth * 0.03


scores = joblib.Parallel(n_jobs=2, verbose=10)(joblib.delayed(fit)(d) for d in range(1, 25))
print("best %.2f" % max(scores), flush=True)
