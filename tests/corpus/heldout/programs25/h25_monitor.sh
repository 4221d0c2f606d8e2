# A script evaluates checkpoints; beside it runs a monitor of the device, started with &. At the end it starts two exports
# with & and waits for them: 'wait' without a pid waits for the monitor as well.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
monitor() { while sleep 2; do cut -d' ' -f1 /proc/loadavg >> load.csv; done; }
monitor &
role monitor $!
for ((step = 0; step < 110; step++)); do
	sleep 0.22
	((step % 5)) || echo "step $step accuracy 0.$((500 + step))"
done
echo "exporting"
for kind in onnx safetensors; do
	sh -c "sleep 2; head -c 100000 /dev/zero > model.$kind" &
done
wait
echo "exported"
