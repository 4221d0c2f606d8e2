/*
 * Something a person should know: what it is, how bad, on what evidence, and
 * what to do. Made by judges (doctor, protect), shown by tell/host/findings; the
 * JSON form is "vigil.findings/1". Plain data of fixed size.
 */
#pragma once

#include "base/base.h"

enum severity {
	SEVERITY_NOTE, /* good to know; vigil makes do */
	SEVERITY_WARNING, /* will hurt sooner or later */
	SEVERITY_PROBLEM, /* hurts now */
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
};

#define FINDINGS_MAX 48
struct findings {
	struct finding row[FINDINGS_MAX];
	size_t n;
	size_t dropped; /* more than fit */
};

/* Appends and returns the new row, never NULL: what does not fit goes to the last row and is counted. */
struct finding *finding_add(struct findings *all, const char *id, enum severity s, const char *fmt, ...)
	printf_like(4, 5);
void finding_evidence(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_advice(struct finding *f, const char *fmt, ...) printf_like(2, 3);

const char *severity_name(enum severity s); /* "note" "warning" "problem" */
/* The worst there is; SEVERITY_NOTE when empty. */
enum severity findings_worst(const struct findings *all);
/* Worst first; order within a severity is kept. */
void findings_sort(struct findings *all);
