# the script has gone, its background trainer fails later: the script's 0 counts
("$1" -c "import time; time.sleep(1); raise ValueError(1)" >/dev/null 2>&1 &)
sleep 0.3
