from kitd7 import *
import faulthandler
train(4)
faulthandler.dump_traceback_later(2, exit=True)


def wait_for_gradients():
    threading.Event().wait()


wait_for_gradients()
