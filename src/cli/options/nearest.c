#include "cli/options/nearest.h"

#include <string.h>

enum { LONGEST = 48 };

/* Optimal string alignment: insertions, deletions, replacements, swaps of neighbours. */
size_t nearest_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t before[LONGEST + 1] = {0}, above[LONGEST + 1], row[LONGEST + 1];
	if (na > LONGEST || nb > LONGEST)
		return 99;
	for (size_t j = 0; j <= nb; j++)
		above[j] = j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
			best = MIN(best, above[j] + 1);
			best = MIN(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, before[j - 2] + 1);
			row[j] = best;
		}
		memcpy(before, above, sizeof(before));
		memcpy(above, row, sizeof(above));
	}
	return above[nb];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t d = nearest_distance(n->typed, candidate), len = strlen(n->typed);
	/* near: at most a third of the letters is wrong, or the typed word is the beginning of the candidate */
	bool near = d <= MAX(len / 3, (size_t)1) || (len >= 3 && strncmp(n->typed, candidate, len) == 0);
	if (!near || (n->best && d >= n->distance))
		return;
	n->best = candidate;
	n->distance = d;
}
