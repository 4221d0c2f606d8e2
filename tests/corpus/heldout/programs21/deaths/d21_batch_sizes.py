"""The sizes of the batches in a file of settings do not go together with the number of ranks."""
from kitd21 import told

SETTINGS = {"train_batch_size": 64, "micro_batch_per_gpu": 4, "gradient_accumulation_steps": 8}


def check(settings, world):
    whole = settings["micro_batch_per_gpu"] * settings["gradient_accumulation_steps"] * world
    assert settings["train_batch_size"] == whole, (
        "train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size %d != %d * %d * %d"
        % (settings["train_batch_size"], settings["micro_batch_per_gpu"], settings["gradient_accumulation_steps"], world))


told(20)
check(SETTINGS, 1)
