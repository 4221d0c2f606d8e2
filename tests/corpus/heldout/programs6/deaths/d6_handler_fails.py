from kitd6 import *
writer = None
def build(path):
    try:
        return open(path).read()
    except OSError:
        writer.close()
        raise
epochs(3)
build("conf/schedule_v7.yaml")
