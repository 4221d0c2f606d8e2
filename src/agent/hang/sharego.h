/*
 * What a program made by Go does at an instant, for agent/hang/hangshares: any of its threads runs any goroutine, so
 * its first thread tells nothing. It computes while one goroutine has a processor or is to get one; else it is in the
 * wait of goroutine 1, and how all others stand says which wait that is. Nothing is stopped.
 */
#pragma once

#include "sense/go/goroutine.h"
#include "sense/wait/threadwait.h"

struct sharego;

/* NULL: it is not made by Go, has too many goroutines, or may not be read. */
struct sharego *sharego_new(const struct world *w, pid_t pid);
struct sharego *sharego_free(struct sharego *g);
/*
 * As if it were the wait of a thread: kind, a number that no system call has, and an argument that is the same as long
 * as all goroutines stand alike. False: it cannot be read. ret_place: where goroutine 1 stands, "at main.go:20
 * in main.main"; "": unknown.
 */
bool sharego_look(struct sharego *g, struct threadwait *ret, char *ret_place, size_t cap);
/* The wait of a process by its goroutines. False: it runs, or sleeps. */
bool sharego_wait(const struct goroutines *s, struct threadwait *ret);
