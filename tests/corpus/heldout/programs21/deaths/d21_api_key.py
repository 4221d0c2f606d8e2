"""The upload at the end wants a key from the environment, and nobody has set it."""
import os

from kitd21 import told


def upload(path):
    return path, os.environ["TRACKING_SERVICE_API_KEY"]


told(30)
upload("model.bin")
