# A script reads tokens of two tokenizers from FIFOs. So that a reader does not see an end between two files it keeps the
# FIFO open itself ("<>"), and forgets to close that: at the end of the tokenizers its reader waits for an end of file.
#
# slow: it closes it, and the second tokenizer takes 66 s for a large file.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
slow=$1
mkfifo tokens
exec 7<>tokens
tokenize() {
	for ((k = 0; k < $1; k++)); do
		sleep 0.2
		echo "$2 $((k * 31 % 997))"
		[ "$slow" != slow ] || [ "$2 $k" != "b 70" ] || sleep 66
	done
}
tokenize 80 a > tokens 7>&- &
role tokenizer-a $!
tokenize 90 b > tokens 7>&- &
role tokenizer-b $!
[ "$slow" != slow ] || exec 7>&-
n=0
while read -r name value; do
	n=$((n + 1))
	((n % 10)) || echo "read $n tokens, last $value of $name"
done < tokens
echo "vocabulary of $n"
