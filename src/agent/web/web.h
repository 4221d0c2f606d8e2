/*
 * What the parts of the page's server share: the server, one request on its way, and the ways to answer it. Only
 * agent/web includes this; agent/web/webserver.h is for others.
 */
#pragma once

#include <sys/types.h>

#include "agent/web/httpd.h"
#include "agent/web/webauth.h"
#include "agent/web/webserver.h"
#include "base/json.h"
#include "model/jobs/job.h"
#include "sense/world.h"

struct webchildren;
struct webasks;
struct webprofiles;
struct webstreams;
struct webhealths;
struct weblater;
struct livefollows;

struct webmetrics;

struct web {
	const struct web_want *want;
	struct webauth auth;
	struct webcodes codes;
	struct web_address address;
	char other[160]; /* how one comes by another address, as the end of a sentence */
	struct webguard guard;
	struct httpd *httpd;
	struct world world;
	/* The store as it was opened last; NULL: there is none, or store_error says why not */
	struct store *store;
	int store_error; /* -errno; 0: it is open, or there is none yet */
	char store_text[512];
	dev_t store_dev;
	ino_t store_ino;
	bool store_lent;
	uint64_t store_opened_ns;
	uint64_t store_turn; /* grows when another file is opened */
	struct webchildren *children;
	struct webasks *asks;
	struct webprofiles *profiles;
	struct webstreams *streams;
	struct webhealths *healths;
	struct weblater *later; /* NULL: the store took all events */
	struct livefollows *lives; /* NULL before the first question */
	struct webmetrics *metrics; /* NULL before the first scrape */
	/* Number of jobs, as it was when the newest one was the newest */
	struct {
		char newest[64];
		uint64_t turn, counted_ns, n;
	} total;
	/* Rounds of metrics that are sent: when the next begins, and what was said of the last */
	struct {
		bool running;
		uint64_t next_ns;
		char said[500];
		uint64_t said_ns;
	} otlp;
	uint32_t refused; /* wrong tokens and codes since refused_since_ns */
	uint64_t refused_since_ns;
	bool stop;
};

struct webcall {
	struct web *web;
	const struct httpd_request *request;
	struct weburl url;
	struct webroute route;
	enum web_role role;
};

/* ---- answers: each ends the call ---- */

/* o is given away. */
void web_json(const struct webcall *c, int status, struct js *o);
void web_fail(const struct webcall *c, int status, const char *error, const char *fmt, ...) printf_like(4, 5);
/* 204 */
void web_done(const struct webcall *c);
/* A parameter was wrong: 400 with the fault's sentence. */
void web_fault(const struct webcall *c, const struct fault *f);
/* The store failed while `what` was read. */
void web_store_failed(const struct webcall *c, int r, const char *what);
/* The same as an answer to a call whose request is no more. */
void web_fail_later(struct httpd_call *call, int status, const char *error, const char *text);
void web_json_text(struct httpd_call *call, int status, char *text);
/* "vigil.error/1" */
struct js *web_error_json(const char *error, const char *text);

/* ---- the store ---- */

/* Opens it, or again if its file was replaced. NULL with store_error 0: there is none yet. */
struct store *web_store(struct web *w);
void web_store_close(struct web *w);
/* The store, or NULL after an answer: 404 where there is none, 503 where it cannot be read. */
struct store *web_store_or_fail(const struct webcall *c);
/* The job of the path, brought up to date; false after an answer. */
bool web_job(const struct webcall *c, struct job *ret);
/* True if this process is of the job: a main process in the store, or one that its vigil has seen and that runs. */
bool web_job_has(const struct webcall *c, const struct job *j, pid_t pid);
/*
 * True if this process may be looked into on behalf of the caller: it runs as this user, or is of a job of the store.
 * False after an answer.
 */
bool web_may_look(const struct webcall *c, pid_t pid);
void web_job_refresh(const struct web *w, struct job *j);
/*
 * Brings one job up to date by what its supervisor says, as far as that is there by now. The job is then listened to
 * for a while, so that its series stays fresh as well.
 */
void web_job_now(struct web *w, struct job *j);
/* Number of the newest event; 0: none. A negative errno. */
int must_check web_last_event(struct store *s, uint64_t *ret);

/* ---- health ---- */

struct js *web_health_json(struct web *w, const struct job *j);
/* The number of all jobs; counted anew when there is a newer one, and each minute. */
int must_check web_jobs_total(struct web *w, uint64_t *ret);
void web_healths_free(struct web *w);
/* The ranks that the trouble that is told of the job names as its cause, INCIDENT_CULPRITS at most. Their number. */
size_t web_health_culprits(struct web *w, const struct job *j, int32_t *dst);
/* vigil.job/1 with steps and health. */
struct js *web_job_json(struct web *w, const struct job *j);

/* An array of the ranks from a place on, owned by the caller, and their number. */
int must_check web_ranks_rows(struct web *w, const struct job *j, uint64_t from, uint64_t limit, struct js **ret,
			      uint64_t *ret_total);
/* The newest look at the job's memory, "vigil.memory_point/1", owned by the caller; NULL: there is none. */
struct js *web_memory_point(const struct web *w, const struct job *j, int64_t *ret_unix_ms);

/* ---- metrics that are sent ---- */

/*
 * Starts the next round of `vigil metrics --otlp` where it is time, each 15 s. What goes wrong is said once while it
 * stays the same, and another cause after ten minutes. Milliseconds until the next; -1: nothing is to be sent, or a
 * round runs.
 */
int web_otlp_turn(struct web *w);
/* Events that the store did not take are tried again: milliseconds until then; -1: there are none. */
int web_act_turn(struct web *w);
void web_act_free(struct web *w);

/* ---- handlers ---- */

void web_login(const struct webcall *c);
void web_login_code(const struct webcall *c);
void web_logout(const struct webcall *c);
void web_me(const struct webcall *c);
void web_jobs(const struct webcall *c);
void web_job_show(const struct webcall *c);
void web_ranks(const struct webcall *c);
void web_processes(const struct webcall *c);
void web_memory(const struct webcall *c);
void web_series(const struct webcall *c);
void web_events(const struct webcall *c);
void web_incidents(const struct webcall *c);
void web_incident(const struct webcall *c);
void web_logs(const struct webcall *c);
void web_log(const struct webcall *c);
void web_moment(const struct webcall *c);
void web_signal(const struct webcall *c);
void web_page(const struct webcall *c);
void web_openapi(const struct webcall *c);
void web_metrics(const struct webcall *c);
/* This call waits no longer. */
void web_metrics_gone(struct web *w, struct httpd_call *call);
/* To wait for; -1: nothing. */
int web_metrics_fd(const struct web *w);
/* Answers who waits. Milliseconds after which it must be called again; -1: nobody waits. */
int web_metrics_turn(struct web *w);
void web_metrics_free(struct web *w);
