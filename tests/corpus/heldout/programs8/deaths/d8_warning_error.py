from kitd8 import *
import warnings
warnings.warn("lr_scheduler.step() before optimizer.step()", UserWarning)
fit(5)
warnings.simplefilter("error")
warnings.warn("padding_side was not set, using 'right'", FutureWarning)
