/* The cause book that ships with vigil, for tests. RULES is its folder. */
#pragma once

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/rules/rule.h"

static inline void book_of(struct rulebook *b)
{
	static const char *const names[] = {"data", "kernel", "nccl", "state", "torch"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[400], *text = NULL;
		size_t len;
		struct fault f = {.text = ""};
		TEXT_FORMAT(path, RULES "/%s.rules", names[i]);
		assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
		if (rulebook_add(b, (struct span){text, len}, path, &f) != 0)
			fail_msg("%s", f.text);
		free(text);
	}
	struct fault f = {.text = ""};
	if (rulebook_check(b, &f) != 0)
		fail_msg("%s", f.text);
}
