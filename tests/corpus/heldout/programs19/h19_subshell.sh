# A script trains four folds in the background, and counts down those that are done in a loop behind a pipe. That loop
# is a shell of its own, and so is its count: the script's own stays at four, and it looks again each second. With
# "slow" the loop reads from a file, and one fold takes 48 s more.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
slow= python=$1
[ "$1" = slow ] && slow=slow python=$2
cat > fold.py <<'PROGRAM'
import sys
import time
fold = int(sys.argv[1])
for step in range(40):
    time.sleep(0.2)
    if fold == 0 and step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
if fold == 2 and "slow" in sys.argv:
    time.sleep(48)
with open("fold-%d.done" % fold, "w") as f:
    f.write("%d\n" % fold)
PROGRAM
for fold in 0 1 2 3; do
    "$python" -u fold.py $fold $slow &
done
left=4
until [ $left -eq 0 ]; do
    sleep 1
    if [ -n "$slow" ]; then
        left=4
        ls > list
        while read -r name; do
            case $name in fold-*.done) left=$((left - 1)) ;; esac
        done < list
    else
        ls | while read -r name; do
            case $name in fold-*.done) left=$((left - 1)) ;; esac
        done
    fi
done
echo "all folds are done"
