#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void role(const char *name) { FILE *f = fopen(getenv("CORPUS_ROLES"), "a"); if (f) { fprintf(f, "%s %d\n", name, getpid()); fclose(f); } }

#include <pthread.h>
static void *leak(void *arg) { for (;;) { char *p = malloc(4 << 20); memset(p, 7, 4 << 20); usleep(60000); } return arg; }
int main(void) { role("main"); pthread_t t; pthread_create(&t, NULL, leak, NULL); for (int i = 0;; i++) { printf("iter %d\n", i); fflush(stdout); usleep(100000); } }
