# A share is reckoned of a count that is nought.
set -e
count=0
for ((step = 0; step < 20; step++)); do
	sleep 0.1
	((step % 5)) || echo "step $step files $step"
done
share=$(expr 100 \* 20 / $count)
echo "share $share"
