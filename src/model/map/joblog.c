#include "model/map/joblog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Up to the next tab; false at the end of the line. */
static bool column(struct span *rest, struct span *ret)
{
	const char *tab = memchr(rest->p, '\t', rest->len);
	if (!tab)
		return false;
	*ret = (struct span){rest->p, (size_t)(tab - rest->p)};
	rest->len -= ret->len + 1;
	rest->p = tab + 1;
	return true;
}

/* "1795522511.859" or "     0.002": a number with at most three digits behind the point, times a thousand. */
static int thousandths(struct span s, int64_t *ret)
{
	uint64_t whole, part = 0;
	s = span_trim(s);
	struct span before = span_before(s, "."), after = span_after(s, ".");
	int r = span_u64(before, &whole);
	if (r == 0 && after.p && after.len > 0)
		r = after.len > 3 ? -EBADMSG : span_u64(after, &part);
	if (r < 0 || whole > INT64_MAX / 1000 - 1)
		return -EBADMSG;
	for (size_t digits = after.p ? after.len : 3; digits < 3; digits++)
		part *= 10;
	*ret = (int64_t)(whole * 1000 + part);
	return 0;
}

static int small(struct span s, int32_t *ret)
{
	int64_t v;
	if (span_i64(s, &v) < 0 || v < INT32_MIN || v > INT32_MAX)
		return -EBADMSG;
	*ret = (int32_t)v;
	return 0;
}

int joblog_parse(struct span line, struct joblog_row *ret)
{
	enum { SEQ, HOST, START, RUNTIME, SEND, RECEIVE, EXITVAL, SIGNAL, COLUMNS };
	struct span c[COLUMNS];
	struct joblog_row row = {.seq = 0};
	int64_t run_ms;
	for (size_t i = 0; i < COLUMNS; i++)
		if (!column(&line, &c[i]))
			return -EBADMSG;
	if (span_u64(c[SEQ], &row.seq) < 0 || row.seq == 0 || thousandths(c[START], &row.start_unix_ms) < 0 ||
	    thousandths(c[RUNTIME], &run_ms) < 0 || span_u64(c[SEND], &row.send_bytes) < 0 ||
	    span_u64(c[RECEIVE], &row.receive_bytes) < 0 || small(c[EXITVAL], &row.exit_value) < 0 ||
	    small(c[SIGNAL], &row.signal) < 0)
		return -EBADMSG;
	row.run_ms = (uint64_t)run_ms;
	row.command = line;
	*ret = row;
	return 0;
}

char *joblog_line(const struct joblog_row *row, size_t *ret_len)
{
	char head[200];
	int n = snprintf(head, sizeof(head),
			 "%" PRIu64 "\t:\t%" PRId64 ".%03d\t%6" PRIu64 ".%03d\t%" PRIu64 "\t%" PRIu64 "\t%d\t%d\t",
			 row->seq, row->start_unix_ms / 1000, (int)(row->start_unix_ms % 1000), row->run_ms / 1000,
			 (int)(row->run_ms % 1000), row->send_bytes, row->receive_bytes, row->exit_value, row->signal);
	char *line = malloc((size_t)n + row->command.len + 2);
	if (!line)
		return NULL;
	memcpy(line, head, (size_t)n);
	for (size_t i = 0; i < row->command.len; i++)
		line[(size_t)n + i] = row->command.p[i] == '\n' ? '\0' : row->command.p[i];
	*ret_len = (size_t)n + row->command.len + 1;
	line[*ret_len - 1] = '\n';
	line[*ret_len] = '\0';
	return line;
}

bool joblog_same_command(const struct joblog_row *row, const char *command)
{
	if (strlen(command) != row->command.len)
		return false;
	for (size_t i = 0; i < row->command.len; i++)
		if ((command[i] == '\n' ? '\0' : command[i]) != row->command.p[i])
			return false;
	return true;
}
