/*
 * The store's SQL: the schema, its migrations, and the struct field of each column. Plain data without a database.
 * Document: docs/formats/store.md.
 */
#pragma once

#include "base/base.h"
#include "base/buf.h"

#define STORE_APPLICATION_ID 0x5669676c /* "Vigl", PRAGMA application_id */
#define STORE_SCHEMA 4 /* PRAGMA user_version */

/* SQL that takes a database from schema n to n + 1, for n from 0. */
extern const char *const store_migrations[STORE_SCHEMA];

enum column_type {
	COLUMN_TEXT,
	COLUMN_BOOL,
	COLUMN_I32,
	COLUMN_U32,
	COLUMN_I64,
	COLUMN_U64, /* capped at 2^63 - 1, the largest integer SQLite keeps */
	COLUMN_STATE, /* enum job_state, kept by name */
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset, size;
	size_t valid; /* offset of the bool that says whether there is a value; 0: always */
	bool key;
};

struct table {
	const char *name;
	const struct column *columns;
	size_t n;
};

/*
 * Tables of a connection that reads, for rows that are not in its file, and views in front of the file's tables that
 * show both. Their names are those of the tables, so that every statement sees all rows.
 */
extern const char store_lent_tables[];

extern const struct table store_job_table, store_process_table, store_event_table;

enum statement {
	PUT_JOB,
	PUT_PROCESS,
	ADD_EVENT,
	PUT_INCIDENT,
	PUT_NOTE,
	GET_NOTE,
	DROP_NOTE,
	FORGET_TALLY, /* before what it counts is gone */
	FORGET_PROCESSES,
	FORGET_EVENTS,
	FORGET_INCIDENTS,
	FORGET_NOTES,
	FORGET_JOB,
	EACH_NOTE,
	JOB_BY_ID,
	JOB_BY_NAME,
	JOB_LAST,
	JOB_BY_PID,
	EACH_JOB,
	EACH_PROCESS,
	EACH_EVENT,
	EACH_EVENT_OF_JOB,
	INCIDENT_BY_ID,
	INCIDENT_BY_JOB,
	INCIDENT_BY_PID,
	INCIDENT_LAST,
	EACH_INCIDENT,
	EACH_MEMORY_KILL,
	COUNT_INCIDENTS,
	EACH_TALLY,
	HAS_EVENT,
	STATEMENTS_ALWAYS, /* what follows needs tables that are lent */
	LEND_JOB = STATEMENTS_ALWAYS,
	LEND_PROCESS,
	LEND_EVENT,
	LEND_INCIDENT,
	STATEMENT_MAX,
};

/* What the store asks and says. put: it writes. The beginning is generated from the table, if there is one. */
struct store_statement {
	const struct table *table;
	bool put;
	const char *sql;
};
extern const struct store_statement store_statements[STATEMENT_MAX];

/* "INSERT … ON CONFLICT(keys) DO UPDATE …", one parameter a column in order. */
void store_sql_put(const struct table *t, struct buf *b);
/* "SELECT columns FROM table ", in order. */
void store_sql_select(const struct table *t, struct buf *b);
