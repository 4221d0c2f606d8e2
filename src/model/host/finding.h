/*
 * A finding: something that a person should know, how bad it is, the evidence for it, and what to do. Made by judges
 * (doctor, protect), shown by tell/host/findings; the JSON form is "vigil.findings/1". Plain data of fixed size.
 */
#pragma once

#include "base/base.h"

enum severity {
	SEVERITY_NOTE, /* good to know; vigil copes without it */
	SEVERITY_WARNING, /* will cause harm at some time */
	SEVERITY_PROBLEM, /* causes harm now */
};

#define FINDING_EVIDENCE 6
#define FINDING_ADVICE 4

struct finding {
	char id[48];
	enum severity severity;
	char text[480];
	char evidence[FINDING_EVIDENCE][240];
	size_t n_evidence;
	char advice[FINDING_ADVICE][400];
	size_t n_advice;
	/* Of what holds a job back; 0 and "": does not apply, or is not known. */
	double cost_ratio; /* part of the time that is lost to it */
	double weight; /* for the order: the cost, or where that is not known, how much it is thought to matter */
	double speedup; /* times faster once it is gone, at most */
	double speedup_now; /* the same while other programs go on using the processors; 0: they do not */
	char confidence[8]; /* "high", "medium", "low" */
};

#define FINDINGS_MAX 48
struct findings {
	struct finding row[FINDINGS_MAX];
	size_t n;
	size_t dropped; /* rows that did not fit */
};

/* Appends a row and returns it, never NULL. When the table is full the last row is replaced and counted as dropped. */
struct finding *finding_add(struct findings *all, const char *id, enum severity s, const char *fmt, ...)
	printf_like(4, 5);
void finding_evidence(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_advice(struct finding *f, const char *fmt, ...) printf_like(2, 3);

const char *severity_name(enum severity s); /* "note" "warning" "problem" */
/* The worst severity; SEVERITY_NOTE if there is no row. */
enum severity findings_worst(const struct findings *all);
/* Sorts worst first; rows of one severity keep their order. */
void findings_sort(struct findings *all);
/* Sorts by weight, the dearest first; rows of equal weight keep their order. */
void findings_sort_cost(struct findings *all);
