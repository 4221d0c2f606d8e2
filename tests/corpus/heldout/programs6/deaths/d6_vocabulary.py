from kitd6 import *
import concurrent.futures as cf
def tokenize(n):
    time.sleep(0.2)
    if n == 14:
        say("tokenizer: vocabulary has 32128 entries, the model 32000; leaving")
        os._exit(3)
    return n
with cf.ProcessPoolExecutor(2) as pool:
    for n in pool.map(tokenize, range(40)):
        print("shard", n, "tokenized", flush=True)
