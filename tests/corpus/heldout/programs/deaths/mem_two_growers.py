"""Two processes grow, one four times as fast."""
from mem import *
role('main')
fork('slow', grow, 20)
fork('fast', grow, 80)
steady()
