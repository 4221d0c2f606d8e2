"""A task of Ray fails, and with it the driver."""
from kitd26 import own_ray, role, say

role("main")
ray = own_ray()


@ray.remote
def tokenize(k):
    if k == 12:
        raise KeyError("column 'prompt_text' is not in part 12")
    return k * 100


for k in range(30):
    tokens = ray.get(tokenize.remote(k))
    say("part %d: %d tokens" % (k, tokens))
