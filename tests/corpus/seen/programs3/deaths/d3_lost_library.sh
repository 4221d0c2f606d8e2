echo 'int f(void){return 0;}' > f.c
echo 'int f(void); int main(void){return f();}' > m.c
gcc -shared -fPIC -o libkernels_sm90.so f.c && gcc -o engine m.c -L. -lkernels_sm90 && rm libkernels_sm90.so
echo "starting the engine"
./engine
