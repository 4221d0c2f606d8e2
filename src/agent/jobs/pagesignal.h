/*
 * Signals that were sent from vigil's page, as notes of the store: they are put before the signal is sent, so that
 * whoever finds out why the process died knows them. Who writes a job's store may write its notes; nobody else is
 * believed. Errors: -errno.
 */
#pragma once

#include "sense/death/facts.h"
#include "tell/store/store.h"

/* s->page_role says for whom, s->sender is the page's server. A later one of the same kind replaces it. */
int must_check pagesignal_put(struct store *s, const char *job, const struct signal_sent *sent);
/* It was not sent after all. */
int must_check pagesignal_drop(struct store *s, const char *job, const struct signal_sent *sent);
/* Those of a job; returns how many were read, of which cap at most are in dst. store may be NULL. */
size_t pagesignal_read(struct store *s, const char *job, struct signal_sent *dst, size_t cap);
