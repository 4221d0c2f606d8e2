import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(2)
say("Error executing job with overrides: ['lr=3e-4']\nTraceback (most recent call last):\n  File \"/opt/app/train.py\", line 12, in main\n    load(cfg.data.root)\n"
    "omegaconf.errors.MissingMandatoryValue: Missing mandatory value: data.root\n    full_key: data.root\n    object_type=dict\n\n"
    "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.")
sys.exit(1)
