# exec of the trainer
exec "$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')"
