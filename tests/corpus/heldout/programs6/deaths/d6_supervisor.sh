note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note supervisor $$
"$1" -u -c '
import time
for n in range(100):
    print("step", n, "loss", "nan" if n > 11 else 2.0 / (n + 1), flush=True)
    time.sleep(0.2)' > steps.txt &
trainer=$!
note trainer $trainer
while kill -0 $trainer; do
    tail -n 1 steps.txt
    if grep -q "loss nan" steps.txt; then
        echo "supervisor: loss is nan since $(grep -m1 'loss nan' steps.txt | cut -d' ' -f1,2), trainer is ended" >&2
        kill -KILL $trainer
        wait $trainer
        exit 70
    fi
    sleep 0.3
done
