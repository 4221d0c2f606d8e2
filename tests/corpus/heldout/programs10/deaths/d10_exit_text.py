from kitd10 import *

epochs(4)
warnings = ["FutureWarning: `torch_dtype` is deprecated", "UserWarning: failed to import flash attention, using the slow path"]
for w in warnings:
    say(w)
sys.exit("train: tokenizer has 32000 entries and the model 32128: pass --resize-embeddings or another model")
