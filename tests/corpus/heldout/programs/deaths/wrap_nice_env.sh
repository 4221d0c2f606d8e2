# env and nice before the program
exec env A=1 nice -n 1 "$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')"
