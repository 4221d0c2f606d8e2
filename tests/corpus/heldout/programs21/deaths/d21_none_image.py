"""An image cannot be read, for which the library gives None; the next line asks for its shape."""
import os

from kitd21 import told


def imread(path):
    return open(path).read() if os.path.exists(path) else None


def preprocess(path):
    image = imread(path)
    height, width = image.shape[:2]
    return height * width


told(30)
preprocess("train/n01440764/img 0031.JPEG")
