# A script with pipefail: head has its line and leaves, which ends the program before it.
set -eo pipefail
for step in 0 5 10 15; do
    echo "step $step loss 1.$step"
    sleep 0.4
done
first=$(seq 1 2000000 | head -n 1)
echo "first sample: $first"
