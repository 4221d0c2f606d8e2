#include <sys/syscall.h>

#include "base/buf.h"
#include "sense/wait/threadwait.h"

/* Made by tools/syscallnames.py from the compiler's headers. */
static const struct {
	int64_t nr;
	const char *name;
} calls[] = {
#define X(number, text) {number, text},
#include "syscallnames.inc"
#undef X
};

const char *syscall_name(int64_t nr)
{
	static _Thread_local char unknown[32];
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return calls[i].name;
	TEXT_FORMAT(unknown, "syscall %lld", (long long)nr);
	return unknown;
}
