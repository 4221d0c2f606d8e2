/*
 * What a profile is asked for as: the body of `POST /api/v1/profiles` taken apart, and the arguments of the command
 * that records it. Every value is checked against a list or a range. Pure.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"

enum webprofile_kind { PROFILE_STACK, PROFILE_FLAME, PROFILE_HEAP, PROFILE_CALLS, PROFILE_KIND_MAX };

struct webprofile_want {
	enum webprofile_kind kind;
	bool has_rank;
	int32_t rank;
	pid_t pid; /* 0: the job, or its rank */
	uint64_t seconds, rate;
	bool native, idle, gil;
	int what; /* of heap: an index of its choices; -1: as the command chooses */
};

#define WEBPROFILE_ARGS 24
struct webprofile_args {
	const char *argv[WEBPROFILE_ARGS]; /* NULL at the end */
	char seconds[16], rate[16], rank[16], pid[16];
};

struct webprofile_form {
	const char *name, *type, *suffix;
};

/* job: the id that the body names. -EINVAL with a sentence. */
int must_check webprofile_parse(const char *body, size_t len, struct webprofile_want *ret, char job[static 130],
				struct fault *f);
/* The result goes to the child's stdout. job is borrowed. */
void webprofile_args(const struct webprofile_want *want, const char *job, struct webprofile_args *ret);
const char *webprofile_kind_name(enum webprofile_kind k);
enum webprofile_kind webprofile_kind_of(const char *name); /* PROFILE_KIND_MAX if unknown */
/* True if it can be made of a job that has ended. */
bool webprofile_of_the_dead(enum webprofile_kind k);
/* Names of the forms its data can be had in, the one it is kept in first; ends with NULL. */
const char *const *webprofile_format_names(enum webprofile_kind k);
const struct webprofile_form *webprofile_form(enum webprofile_kind k, size_t format);
/* The same as JSON, owned by the caller. */
struct js *webprofile_formats(enum webprofile_kind k);
/* The command that writes another form of what it is kept in. */
const char *webprofile_converter(enum webprofile_kind k);
