/* The keys of `vigil top`, htop's where it has them: what each means, and the lines that say so. */
#pragma once

#include "base/base.h"

/* The letter that stands for a key of the screen (cli/screen): F5 is 't', F9 is 'k'; others stay as they are. */
int topkeys_meaning(int key);
/* As many hints as fit into so many columns. */
void topkeys_hints(char *dst, size_t cap, size_t columns);
/* Line i of the page that explains all keys; NULL: there is none. */
const char *topkeys_line(size_t i);

#define TOPKEYS_ABOUT                                                                                             \
	"h or F1 all keys, q or F10 ends, arrows and page keys, s, F6 or > the next order, M P N by own memory, " \
	"processor or pid, t or F5 tree, a all processes, / F3 or F4 search, k or F9 end a process (SIGTERM), "    \
	"space look now"
