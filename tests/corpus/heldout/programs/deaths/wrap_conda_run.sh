# a wrapper that repeats the failed command as conda run does
"$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')"
c=$?
[ $c = 0 ] || echo 'ERROR conda.cli.main_run:execute(49): `conda run python train.py` failed. (See above for error)' >&2
exit $c
