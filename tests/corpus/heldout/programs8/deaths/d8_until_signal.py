from kitd8 import *
role("main")
fit(400)
