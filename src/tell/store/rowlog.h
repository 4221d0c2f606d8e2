/*
 * Rows of the store in a file, one JSON object a line: kept where the store could not be written, and beside the store
 * for the owner of a job, who may not read the store of root. What is read back goes into a store by store_put_*.
 *
 * A line is {"row":"job" or "process", "event", "incident", then the columns of docs/formats/store.md}. Later lines
 * replace earlier ones with the same key. A last line that was not finished is passed over, and so are rows of a newer
 * vigil.
 *
 * Writing is one write() a row. Errors: -errno; -EBADMSG where a line is damaged, after the others have been read.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"
#include "tell/store/store.h"

enum rowlog_kind { ROWLOG_JOB, ROWLOG_PROCESS, ROWLOG_EVENT, ROWLOG_INCIDENT };

/* A row of any kind: struct job, job_process, job_event or store_incident. Borrowed. */
struct rowlog_row {
	enum rowlog_kind kind;
	const void *what;
};

int must_check rowlog_store(struct store *s, const struct rowlog_row *row);
/* fd: opened for appending. */
int must_check rowlog_write(int fd, const struct rowlog_row *row);
/* Puts all rows of the text into the store; events that it has are left out. *ret_n: rows that were put. */
int must_check rowlog_replay(struct span text, struct store *s, size_t *ret_n);
