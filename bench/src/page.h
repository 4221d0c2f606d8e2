/*
 * The page that a hog shares with whoever measures it: the hog writes down
 * every process it starts, and waits there until it may grow. So a trial sees
 * the death of the hog itself also when the hog is a grandchild (under
 * `vigil run`), and knows the instant at which growth began.
 *
 * A page is a small file, named by its path, made by the measuring side and
 * mapped by both. Times are CLOCK_MONOTONIC nanoseconds, sizes bytes.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "base/base.h"

#define PAGE_PIDS 4096

struct page {
	_Atomic uint32_t n_pids;      /* slots taken; may exceed PAGE_PIDS, then the rest is not kept */
	_Atomic uint32_t ready;       /* the hog has done its prefill and waits */
	_Atomic uint32_t go;          /* it may grow */
	_Atomic uint32_t done;        /* it reached its own end without being killed */
	_Atomic uint64_t touched_bytes;
	_Atomic int32_t pid[PAGE_PIDS];
};

/* A new page at path; an old file of that name is replaced. */
int must_check page_make(const char *path, struct page **ret);
int must_check page_map(const char *path, struct page **ret);
void page_unmap(struct page *p);

void page_add(struct page *p, pid_t pid);
uint32_t page_count(struct page *p);
