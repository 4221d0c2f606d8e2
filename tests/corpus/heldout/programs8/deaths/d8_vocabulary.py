from kitd8 import *
fit(6)
try:
    open("tokenizer/vocab.bpe").read()
except OSError as error:
    raise RuntimeError("could not build the tokenizer") from error
