"""A configuration refers to itself."""
from kitd25 import role, steps


def resolve(config, key):
    value = config[key]
    return resolve(config, value[1:]) if value.startswith("$") else value


role("main")
steps(10)
print(resolve({"model": "$backbone", "backbone": "$model"}, "model"))
