/*
 * The verdict of judge/collective on the calls of all ranks (model/collective): which ranks did not join, made
 * another call, or are gone. Plain data without pointers, so that it can be kept in shared memory and passed to the
 * verdict on a hang.
 */
#pragma once

#include "model/incident/incident.h" /* enum confidence */

#define COLLECTIVE_CULPRITS 64
#define COLLECTIVE_ADVICE 4
#define COLLECTIVE_EVIDENCE 16

enum collective_kind {
	COLLECTIVE_NONE, /* no wait was found */
	COLLECTIVE_MISSING, /* culprits did not join the call */
	COLLECTIVE_MISMATCH, /* culprits made another call than the others, or with other sizes or types */
	COLLECTIVE_EQUAL, /* all ranks are in the same call and it does not end: the cause lies below the library */
	COLLECTIVE_P2P, /* a send or receive without its counterpart, which the culprits never made */
	COLLECTIVE_CYCLE, /* ranks wait for each other in different groups or pairs: their order is wrong */
	COLLECTIVE_DEAD, /* processes of the culprits are gone or do not answer */
	COLLECTIVE_INIT, /* culprits did not join the initialisation */
	COLLECTIVE_UNEVEN, /* culprits have finished, the others continue */
	COLLECTIVE_DEVICE, /* the devices of culprits have not ended a call that has ended on the others */
	COLLECTIVE_KINDS,
};

/* Plain data without pointers, so that it can be kept in shared memory. */
struct collective_verdict {
	bool valid; /* there was data to judge */
	enum collective_kind kind;
	enum confidence confidence;
	int32_t culprits[COLLECTIVE_CULPRITS]; /* ascending */
	size_t n_culprits;
	size_t n_culprits_all; /* exceeds n_culprits if they do not fit */
	char group[96]; /* "default_pg"; "": none */
	char op[32]; /* "all_reduce"; "": none */
	bool has_seq;
	uint64_t seq;
	char text[700]; /* one or two sentences */
	char advice[COLLECTIVE_ADVICE][320];
	size_t n_advice;
	struct {
		char source[96]; /* "flight recorder", "NCCL RAS", "profiler ring" */
		char text[360];
	} evidence[COLLECTIVE_EVIDENCE];
	size_t n_evidence;
};

const char *collective_kind_name(enum collective_kind k); /* "missing" */
