#include "sense/wait/filelock.h"

static bool lock_hex(struct span s, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len == 0 || s.len > 8)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		const char c = s.p[i];
		if (c >= '0' && c <= '9')
			v = v << 4 | (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint32_t)(c - 'a' + 10);
		else
			return false;
	}
	*ret = v;
	return true;
}

static bool lock_type(struct span s, enum filelock_type *ret)
{
	if (span_eq(s, "FLOCK"))
		*ret = FILELOCK_FLOCK;
	else if (span_eq(s, "POSIX"))
		*ret = FILELOCK_POSIX;
	else if (span_eq(s, "OFDLCK"))
		*ret = FILELOCK_OFD;
	else
		return false;
	return true;
}

/* "fe:00:9977890" */
static bool lock_file(struct span s, struct filelock *l)
{
	const struct span rest = span_after(s, ":");
	const struct span inode = rest.p ? span_after(rest, ":") : (struct span){NULL, 0};
	return inode.p && lock_hex(span_before(s, ":"), &l->major) && lock_hex(span_before(rest, ":"), &l->minor) &&
	       span_u64(inode, &l->inode) == 0;
}

int filelock_parse(struct span line, struct filelock *ret)
{
	struct filelock l = {.waits = false};
	struct span word, kind, mode, pid, file, start, end;
	int64_t number;
	if (!span_word(&line, &word) || word.len < 2 || word.p[word.len - 1] != ':' || !span_word(&line, &word))
		return -EBADMSG;
	l.waits = span_eq(word, "->");
	if (l.waits && !span_word(&line, &word))
		return -EBADMSG;
	if (!lock_type(word, &l.type) || !span_word(&line, &kind) || !span_word(&line, &mode) ||
	    !span_word(&line, &pid) || !span_word(&line, &file) || !span_word(&line, &start) || !span_word(&line, &end))
		return -EBADMSG;
	if (span_i64(pid, &number) < 0 || number < -1 || number > INT32_MAX || !lock_file(file, &l) ||
	    span_u64(start, &l.start) < 0)
		return -EBADMSG;
	l.pid = (pid_t)number;
	l.write = span_eq(mode, "WRITE");
	if (!l.write && !span_eq(mode, "READ"))
		return -EBADMSG;
	l.end = UINT64_MAX;
	if (!span_eq(end, "EOF") && (span_u64(end, &l.end) < 0 || l.end < l.start))
		return -EBADMSG;
	*ret = l;
	return 0;
}

bool filelock_blocks(const struct filelock *held, const struct filelock *wanted)
{
	if (held->waits || held->inode != wanted->inode || held->major != wanted->major || held->minor != wanted->minor)
		return false;
	/* flock(2) and fcntl(2) know nothing of each other. */
	if ((held->type == FILELOCK_FLOCK) != (wanted->type == FILELOCK_FLOCK) || (!held->write && !wanted->write))
		return false;
	if (held->type == FILELOCK_POSIX && wanted->type == FILELOCK_POSIX && held->pid == wanted->pid)
		return false;
	return held->start <= wanted->end && wanted->start <= held->end;
}
