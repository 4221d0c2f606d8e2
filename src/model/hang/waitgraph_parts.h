/* Shared by the files that implement model/hang/waitgraph.h. */
#pragma once

#include "model/hang/waitgraph.h"

/* A thread that waits on something, by what it is; sorted by id. */
struct waiting_on {
	uint64_t id;
	uint32_t node;
	enum waitfact_kind kind;
	bool to_write;
};

/* An end that several threads share: a host, a process outside of the job. */
struct outside {
	uint32_t node;
	pid_t pid; /* 0: what the text says */
	const char *text;
};

struct build {
	const struct waitgraph_in *in;
	struct waitgraph *g;
	uint32_t *first_node; /* of each process of the facts; WAITGRAPH_NONE: no threads */
	struct waiting_on *on;
	size_t n_on, cap_on;
	struct outside *outside;
	size_t n_outside, cap_outside;
};

/* ---- waitgraph_arrows.c: to whom the arrows of a node lead ---- */
int must_check waitgraph_arrows(struct build *b, uint32_t node);
/* The facts of a node's thread; n 0: none. */
const struct waitfact *waitgraph_facts(const struct build *b, const struct waitgraph_node *n, size_t *ret_n);
uint32_t waitgraph_first_node(const struct build *b, const struct waitfact_process *p);
const struct waitgraph_who *waitgraph_who_of(const struct waitgraph_in *in, pid_t pid);

/* ---- waitgraph_dead.c: which threads can never run again ---- */
int must_check waitgraph_mark_dead(struct build *b);

/* ---- waitgraph_ends.c: where the arrows end ---- */
int must_check waitgraph_find_ends(const struct waitgraph_in *in, struct waitgraph *g);
