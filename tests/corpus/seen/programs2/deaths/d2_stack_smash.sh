cat > s.c <<'X'
#include <string.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v) { char b[8]; for (int i = 0; i < 10; i++) { printf("step %d loss 1.2\n", i); fflush(stdout); usleep(30000); } strcpy(b, v[1]); return b[2] == c; }
X
gcc -w -O0 -fstack-protector-all s.c -o smash
./smash aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
exit $?
