set -eo pipefail
seq 1 20 | sed 's/^/iter /'
sleep 0.3
seq 1 100 | grep -c accuracy > count.txt
echo "never reached"
