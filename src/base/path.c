#include "base/path.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool path_cut(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

bool path_is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

void path_show(const char *path, size_t most, char *dst, size_t cap)
{
	char shown[PATH_MAX];
	span_copy(span_of(path), shown, sizeof(shown));
	const size_t len = strlen(shown);
	const char *end = shown + (len > most ? len - most : 0);
	while (((uint8_t)*end & 0xc0) == 0x80) /* no half character */
		end++;
	text_format(dst, cap, "%s%s", len > most ? "…" : "", end);
}
