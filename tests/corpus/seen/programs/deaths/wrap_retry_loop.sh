# a loop that tries three times and gives up
for i in 1 2 3; do
"$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')" && exit 0
echo "attempt $i failed"
done
echo 'giving up after 3 attempts'
exit 1
