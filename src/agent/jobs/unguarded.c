#include "agent/jobs/unguarded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "sense/proc/proc.h"

void unguarded_note(const struct world *w, const char *state_dir, const struct unguarded *u)
{
	char path[400], text[128];
	struct proc_stat st;
	TEXT_FORMAT(path, "%s/unguarded", state_dir);
	if (u->matching <= u->guarded || proc_stat_read(w, getpid(), &st) != 0) {
		ignore(unlink(path), "as a rule there is none");
		return;
	}
	TEXT_FORMAT(text, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int)st.pid, st.start_ticks, u->matching,
		    u->guarded);
	ignore(file_replace(path, text, strlen(text), 0644), "it is said on stderr as well");
}

bool unguarded_read(const struct world *w, const char *state_dir, struct unguarded *ret)
{
	char path[400], text[128];
	size_t len;
	uint64_t number[4];
	struct proc_stat st;
	TEXT_FORMAT(path, "%s/unguarded", state_dir);
	cleanup(closep) int fd = -1;
	if (foreign_open_kept(path, &fd) != 0 || file_read_fd(fd, text, sizeof(text), &len) != 0)
		return false;
	struct span rest = {text, len}, word;
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		if (!span_word(&rest, &word) || span_u64(word, &number[i]) != 0)
			return false;
	if (number[0] > INT32_MAX || !proc_is_same(w, (struct proc_id){(pid_t)number[0], number[1]}, &st))
		return false;
	*ret = (struct unguarded){.matching = number[2], .guarded = number[3]};
	return ret->matching > ret->guarded;
}

void unguarded_text(const struct unguarded *u, char *dst, size_t cap)
{
	(void)text_format(dst, cap,
			  "%" PRIu64 " programs match what the agent looks for, and it guards %" PRIu64
			  " at a time, the largest of each user first: %" PRIu64 " are not guarded",
			  u->matching, u->guarded, u->matching - u->guarded);
}
