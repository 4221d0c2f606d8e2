/* The keys of `vigil top`, htop's where it has them: what each means, and the lines that say so. */
#pragma once

#include "base/base.h"

/* The letter that stands for a key of the screen (cli/screen): F5 is 't', F9 is 'k'; others stay as they are. */
int topkeys_meaning(int key);
/* Why a key of htop's does nothing here, with the command that does; NULL: it is none. */
const char *topkeys_absent(int key);
/* As many hints as fit into so many columns. */
void topkeys_hints(char *dst, size_t cap, size_t columns);
/* Line i of the page that explains all keys; NULL: there is none. */
const char *topkeys_line(size_t i);

#define TOPKEYS_LOOK ('L' - '@') /* Ctrl-L looks now */

#define TOPKEYS_ABOUT                                                                                              \
	"h or F1 all keys, q or F10 ends, arrows, page keys or the digits of a pid, s, F6 or > the next order, "   \
	"M P T N by own memory, processor, its time or pid, I the other way round, t or F5 tree, + - * its "       \
	"branches, a all processes, u those of a user, / \\ F3 or F4 search, space, c and U mark and unmark, k or " \
	"F9 end what is marked (SIGTERM), p programs without their folder, Z stands still, Ctrl-L looks now"
