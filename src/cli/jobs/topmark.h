/* Processes that were chosen by hand in `vigil top`: marked ones, and those whose children are folded away. */
#pragma once

#include "sense/proc/proc.h"

struct topmark {
	struct proc_id of[256]; /* further ones are not taken */
	size_t n;
};

bool topmark_has(const struct topmark *m, struct proc_id id);
void topmark_set(struct topmark *m, struct proc_id id, bool on);
