# background jobs and wait -n
sleep 30 & S=$!
"$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')" &
wait -n || { c=$?; kill $S; exit $c; }
