cat > s.c <<'X'
#include <stdio.h>
#include <stdlib.h>
int main(void) { for (int i = 0; i < 10; i++) printf("step %d loss 1.2\n", i); fflush(stdout); char *p = malloc(10); free(p); return p[3]; }
X
gcc -w -g -O0 -fsanitize=address s.c -o s
exec ./s
