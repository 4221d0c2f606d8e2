# the first attempt fails of a connection, the second of another error: the second counts
"$1" -c "raise ConnectionResetError(104, 'Connection reset by peer')" || { sleep 1; "$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')"; }
