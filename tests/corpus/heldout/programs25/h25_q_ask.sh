# An evaluation asks on its console, a FIFO here, whether the model may be published; a person answers after 72 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
mkfifo console
(sleep 96; echo yes > console) &
role person $!
for ((step = 0; step < 100; step++)); do
	sleep 0.22
	((step % 5)) || echo "step $step accuracy 0.$((500 + step))"
done
printf 'publish model with accuracy 0.600? [yes/no] '
read -r answer < console
echo "answer: $answer"
for ((; step < 115; step++)); do
	sleep 0.22
	((step % 5)) || echo "step $step published"
done
