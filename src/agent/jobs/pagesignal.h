/*
 * Signals that were sent from vigil's page, as notes of the store and as lines of a file in the job's folder: they are
 * put before the signal is sent, so that whoever finds out why the process died knows them. The store may be locked by
 * another program, and the file needs no lock. Who writes a job's store and folder may write notes; nobody else is
 * believed. Errors: -errno.
 */
#pragma once

#include "sense/death/facts.h"
#include "tell/store/store.h"

/* s->page_role says for whom, s->sender is the page's server. A later one of the same kind replaces it. */
int must_check pagesignal_put(struct store *s, const char *job, const struct signal_sent *sent);
/* The same in a folder of this user's, which the job has in the state directory. */
int must_check pagesignal_keep(const char *folder, const struct signal_sent *sent);
/* It was not sent after all. */
int must_check pagesignal_drop(struct store *s, const char *job, const struct signal_sent *sent);
int must_check pagesignal_unkeep(const char *folder, const struct signal_sent *sent);
/*
 * Those of a job, each once; returns how many were read, at most cap, the newest of the folder's. store and folder may
 * be NULL.
 */
size_t pagesignal_read(struct store *s, const char *folder, const char *job, struct signal_sent *dst, size_t cap);
