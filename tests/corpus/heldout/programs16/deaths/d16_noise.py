"""The thread that uploads has died of an error of the network long ago; what ends the job is a missing column."""
import threading

from kitd16 import *


def upload():
    told(5)
    raise ConnectionResetError(104, "Connection reset by peer")


def batch(rows):
    return [row["label_ids"] for row in rows]


threading.Thread(target=upload, name="uploader").start()
told(40)
batch([{"input_ids": [1, 2], "labels": [1]}])
