#include "sense/speed/numamaps.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/lockwait.h"

#define NUMAMAPS_TEXT (64 * MIB)

/* "N3=512": pages of node 3. */
static bool pages_of(struct span word, uint64_t *ret_node, uint64_t *ret_pages)
{
	struct span value = span_after(word, "=");
	if (word.len < 4 || word.p[0] != 'N' || !value.p)
		return false;
	struct span node = {word.p + 1, (size_t)(value.p - word.p) - 2};
	return span_u64(node, ret_node) == 0 && *ret_node < NUMAMAPS_NODES && span_u64(value, ret_pages) == 0;
}

void numamaps_parse(struct span text, struct numamaps *ret)
{
	struct span line;
	memset(ret, 0, sizeof(*ret));
	while (span_line(&text, &line)) {
		struct span size = span_after(line, "kernelpagesize_kB="), word;
		uint64_t node, pages, kib = 4;
		if (size.p && (span_u64_prefix(size, &kib) < 0 || kib > GIB / KIB))
			continue;
		while (span_word(&line, &word)) {
			if (!pages_of(word, &node, &pages) || pages > UINT64_MAX / (kib * KIB))
				continue;
			ret->bytes[node] = add_cap(ret->bytes[node], pages * kib * KIB);
			ret->all_bytes = add_cap(ret->all_bytes, pages * kib * KIB);
		}
	}
}

int numamaps_read(const struct world *w, pid_t pid, struct numamaps *ret)
{
	cleanup(freep) char *text = NULL;
	char path[32];
	size_t len;
	TEXT_FORMAT(path, "%d/numa_maps", pid);
	int r = lockwait_ask(w->proc_fd, pid);
	if (r)
		return r;
	r = file_slurp(w->proc_fd, path, NUMAMAPS_TEXT, &text, &len);
	if (r < 0)
		return r == -ENOENT ? WORLD_ABSENT : world_condition(r);
	numamaps_parse((struct span){text, len}, ret);
	return 0;
}
