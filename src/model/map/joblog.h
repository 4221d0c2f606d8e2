/*
 * One line of a joblog, with the columns that GNU parallel writes: tasks of either program can be looked up in the
 * files of the other. Columns are separated by tabs, the last one is the command; a newline in it is written as a
 * NUL.
 *
 * Pure. Times: unix milliseconds for the start, milliseconds for the length.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

#define JOBLOG_HEADER "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

struct joblog_row {
	uint64_t seq;
	int64_t start_unix_ms;
	uint64_t run_ms;
	uint64_t send_bytes, receive_bytes; /* to the task, of a block (--pipe); from it */
	int32_t exit_value; /* -1: it was ended, for time or memory */
	int32_t signal; /* 0: none */
	struct span command; /* borrowed; as it is in the file */
};

/* A line without its newline. -EBADMSG: it is none of a joblog. */
int must_check joblog_parse(struct span line, struct joblog_row *ret);
/* The line with its newline, malloc'ed; newlines of the command are replaced. NULL: no memory. */
char *joblog_line(const struct joblog_row *row, size_t *ret_len);
/* True if the command of a line is this one. */
bool joblog_same_command(const struct joblog_row *row, const char *command);
