# xargs runs four conversions, two at a time, each of them 35 s of arithmetic without a word.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
for n in 1 2 3 4 5 6; do
    echo "listed $n"
    sleep 0.4
done
export WORK='import time
end = time.time() + 35
while time.time() < end:
    sum(range(1000))'
seq 4 | xargs -P 2 -I@ "$1" -c "$WORK" @
echo "all are converted"
