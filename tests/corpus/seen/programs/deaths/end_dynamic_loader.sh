# a program whose library is not there
set -e
d=$(mktemp -d)
printf 'int f(void){return 1;}' >$d/f.c
printf 'int f(void);int main(void){return f();}' >$d/m.c
gcc -shared -o $d/libfeatures.so $d/f.c
gcc -o $d/m $d/m.c -L$d -lfeatures
rm $d/libfeatures.so
$d/m
