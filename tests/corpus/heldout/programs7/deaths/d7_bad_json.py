from kitd7 import *


class TokenizerError(Exception):
    pass


def load(path):
    try:
        return json.load(open(path))
    except ValueError as error:
        raise TokenizerError("tokenizer of run 7 cannot be used") from error


train(4)
open("tokenizer.json", "w").write('{"vocab": {"a": 1,}}')
load("tokenizer.json")
