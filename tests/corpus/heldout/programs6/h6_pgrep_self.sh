# A script waits until no process works on a data set, and finds itself by the name of the data set.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
data=$1
for n in 1 2 3 4 5 6; do
    echo "checked part $n of $data"
    sleep 0.5
done
while pgrep -f "$data" > /dev/null; do
    sleep 1
done
echo "training on $data"
