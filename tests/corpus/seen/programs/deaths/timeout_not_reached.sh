# timeout was not reached, the program failed before
exec timeout 60 "$1" -c "import time; time.sleep(1); raise ValueError('beta2 must be below 1')"
