#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *f, int code, const char *fmt, ...)
{
	if (f) {
		va_list ap;
		va_start(ap, fmt);
		(void)vsnprintf(f->text, sizeof(f->text), fmt, ap);
		va_end(ap);
	}
	return code;
}
