# A tool for the evaluation was built against a library that is no longer there.
set -e
for step in $(seq 0 5 60); do
    echo "step $step loss 1.$step"
    sleep 0.6
done
echo 'int score(void) { return 0; }' > score.c
echo 'int score(void); int main(void) { return score(); }' > eval.c
gcc -shared -fPIC -o libflashscore.so.2 -Wl,-soname,libflashscore.so.2 score.c
gcc -o evaluate eval.c ./libflashscore.so.2
rm libflashscore.so.2
./evaluate
echo "done"
