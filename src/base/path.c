#include "base/path.h"

#include <string.h>

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
