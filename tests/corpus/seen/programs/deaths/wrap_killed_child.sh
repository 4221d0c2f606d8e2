# the trainer under a script is killed from outside
"$1" "$(dirname "$0")/trainer.py"
c=$?
echo "train.sh: trainer ended with $c"
exit $c
