#include "tell/store/store_sql.h"

#include "model/jobs/job.h"
#include "tell/store/store.h"

const char *const store_migrations[STORE_SCHEMA] = {
	"CREATE TABLE job("
	" id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, command TEXT NOT NULL, cwd TEXT NOT NULL, node TEXT NOT NULL,"
	" user TEXT NOT NULL, uid INTEGER NOT NULL, adopted INTEGER NOT NULL, pid INTEGER NOT NULL,"
	" supervisor_pid INTEGER NOT NULL, supervisor_start_ticks INTEGER NOT NULL, nproc INTEGER NOT NULL,"
	" attempt INTEGER NOT NULL, max_retries INTEGER NOT NULL, state TEXT NOT NULL,"
	" started_unix_ms INTEGER NOT NULL, ended_unix_ms INTEGER NOT NULL, exit_status INTEGER,"
	" peak_bytes INTEGER NOT NULL, memory_kills INTEGER NOT NULL, other_deaths INTEGER NOT NULL,"
	" last_incident TEXT NOT NULL, log_dir TEXT NOT NULL, cgroup TEXT NOT NULL);"
	"CREATE INDEX job_by_name ON job(name, started_unix_ms);"
	"CREATE INDEX job_by_start ON job(started_unix_ms);"
	"CREATE TABLE process("
	" job TEXT NOT NULL, attempt INTEGER NOT NULL, pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL,"
	" ppid INTEGER NOT NULL, rank INTEGER NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, command TEXT NOT NULL,"
	" own_bytes INTEGER NOT NULL, rss_bytes INTEGER NOT NULL, shared_bytes INTEGER NOT NULL,"
	" swap_bytes INTEGER NOT NULL, peak_own_bytes INTEGER NOT NULL, started_unix_ms INTEGER NOT NULL,"
	" ended_unix_ms INTEGER NOT NULL, wait_status INTEGER,"
	" PRIMARY KEY(job, attempt, pid, start_ticks)) WITHOUT ROWID;"
	"CREATE INDEX process_by_pid ON process(pid);"
	"CREATE TABLE event("
	" seq INTEGER PRIMARY KEY AUTOINCREMENT, time_unix_ms INTEGER NOT NULL, job TEXT NOT NULL,"
	" attempt INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, incident TEXT NOT NULL);"
	"CREATE INDEX event_by_job ON event(job, seq);"
	"CREATE TABLE incident("
	" id TEXT NOT NULL UNIQUE, job TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL,"
	" time_unix_ms INTEGER NOT NULL, victim_pid INTEGER NOT NULL, summary TEXT NOT NULL, json TEXT NOT NULL);"
	"CREATE INDEX incident_by_job ON incident(job, time_unix_ms);"
	"CREATE INDEX incident_by_pid ON incident(victim_pid);"
	"CREATE INDEX incident_by_time ON incident(time_unix_ms);"
	"CREATE TABLE note("
	" job TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(job, key)) WITHOUT ROWID;",
	"ALTER TABLE job ADD COLUMN limit_bytes INTEGER NOT NULL DEFAULT 0;",
	"ALTER TABLE process ADD COLUMN ended_for TEXT NOT NULL DEFAULT '';",
	"ALTER TABLE job ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;",
};

#define FIELD(st, f, t)                                                                                                \
	{                                                                                                              \
		.name = #f, .type = (t), .offset = offsetof(struct st, f), .size = sizeof(((struct st *)0)->f)         \
	}
#define KEY(st, f, t)                                                                                                  \
	{                                                                                                              \
		.name = #f, .type = (t), .offset = offsetof(struct st, f), .size = sizeof(((struct st *)0)->f),        \
		.key = true                                                                                            \
	}
#define MAYBE(st, f, t, has)                                                                                           \
	{                                                                                                              \
		.name = #f, .type = (t), .offset = offsetof(struct st, f), .size = sizeof(((struct st *)0)->f),        \
		.valid = offsetof(struct st, has)                                                                      \
	}

static const struct column job_columns[] = {
	KEY(job, id, COLUMN_TEXT),
	FIELD(job, name, COLUMN_TEXT),
	FIELD(job, command, COLUMN_TEXT),
	FIELD(job, cwd, COLUMN_TEXT),
	FIELD(job, node, COLUMN_TEXT),
	FIELD(job, user, COLUMN_TEXT),
	FIELD(job, uid, COLUMN_U32),
	FIELD(job, adopted, COLUMN_BOOL),
	FIELD(job, pid, COLUMN_I32),
	FIELD(job, supervisor_pid, COLUMN_I32),
	FIELD(job, supervisor_start_ticks, COLUMN_U64),
	FIELD(job, nproc, COLUMN_U32),
	FIELD(job, attempt, COLUMN_U32),
	FIELD(job, max_retries, COLUMN_U32),
	FIELD(job, state, COLUMN_STATE),
	FIELD(job, started_unix_ms, COLUMN_I64),
	FIELD(job, ended_unix_ms, COLUMN_I64),
	MAYBE(job, exit_status, COLUMN_I32, has_exit),
	FIELD(job, peak_bytes, COLUMN_U64),
	FIELD(job, memory_kills, COLUMN_U32),
	FIELD(job, other_deaths, COLUMN_U32),
	FIELD(job, last_incident, COLUMN_TEXT),
	FIELD(job, log_dir, COLUMN_TEXT),
	FIELD(job, cgroup, COLUMN_TEXT),
	FIELD(job, limit_bytes, COLUMN_U64),
	FIELD(job, stopped, COLUMN_BOOL),
};
const struct table store_job_table = {"job", job_columns, ARRAY_SIZE(job_columns)};

static const struct column process_columns[] = {
	KEY(job_process, job, COLUMN_TEXT),
	KEY(job_process, attempt, COLUMN_U32),
	KEY(job_process, pid, COLUMN_I32),
	KEY(job_process, start_ticks, COLUMN_U64),
	FIELD(job_process, ppid, COLUMN_I32),
	FIELD(job_process, rank, COLUMN_I32),
	FIELD(job_process, role, COLUMN_TEXT),
	FIELD(job_process, name, COLUMN_TEXT),
	FIELD(job_process, command, COLUMN_TEXT),
	FIELD(job_process, own_bytes, COLUMN_U64),
	FIELD(job_process, rss_bytes, COLUMN_U64),
	FIELD(job_process, shared_bytes, COLUMN_U64),
	FIELD(job_process, swap_bytes, COLUMN_U64),
	FIELD(job_process, peak_own_bytes, COLUMN_U64),
	FIELD(job_process, started_unix_ms, COLUMN_I64),
	FIELD(job_process, ended_unix_ms, COLUMN_I64),
	MAYBE(job_process, wait_status, COLUMN_I32, has_status),
	FIELD(job_process, ended_for, COLUMN_TEXT),
};
const struct table store_process_table = {"process", process_columns, ARRAY_SIZE(process_columns)};

/* seq comes last: an appended event leaves it to the database. */
static const struct column event_columns[] = {
	FIELD(job_event, time_unix_ms, COLUMN_I64),
	FIELD(job_event, job, COLUMN_TEXT),
	FIELD(job_event, attempt, COLUMN_U32),
	FIELD(job_event, kind, COLUMN_TEXT),
	FIELD(job_event, text, COLUMN_TEXT),
	FIELD(job_event, incident, COLUMN_TEXT),
	KEY(job_event, seq, COLUMN_U64),
};
const struct table store_event_table = {"event", event_columns, ARRAY_SIZE(event_columns)};

static const struct table lent_job_table = {"lent_job", job_columns, ARRAY_SIZE(job_columns)};
static const struct table lent_process_table = {"lent_process", process_columns, ARRAY_SIZE(process_columns)};
static const struct table lent_event_table = {"lent_event", event_columns, ARRAY_SIZE(event_columns)};

#define LENT(t, key)                                                                                                   \
	"CREATE TEMP TABLE lent_" t " AS SELECT * FROM main." t " WHERE 0;"                                            \
	"CREATE UNIQUE INDEX temp.lent_" t "_key ON lent_" t "(" key ");"
#define WITH_LENT(t, rowid, lent_rowid)                                                                                \
	"CREATE TEMP VIEW " t " AS SELECT " rowid "* FROM main." t " UNION ALL SELECT " lent_rowid "* FROM lent_" t ";"
const char store_lent_tables[] = LENT("job", "id") LENT("process", "job,attempt,pid,start_ticks")
	LENT("incident", "id") "CREATE TEMP TABLE lent_event(seq INTEGER PRIMARY KEY, time_unix_ms, job, attempt, "
			       "kind, text, incident);" WITH_LENT("job", "rowid AS rowid,", "-rowid,")
				       WITH_LENT("process", "", "") WITH_LENT("incident", "rowid AS rowid,", "-rowid,")
					       WITH_LENT("event", "", "");

/* Rows more than a day in the future were stored with a wrong clock; sort them last. */
#define TO_COME(t) t ">(strftime('%s','now')+86400)*1000"
#define NEWEST_JOB "ORDER BY " TO_COME("started_unix_ms") ", started_unix_ms DESC, rowid DESC "
#define INCIDENT_JSON "SELECT json FROM incident "
#define SQL_TEXT(n) #n
#define SQL_NUMBER(n) SQL_TEXT(n)
#define NEWEST_INCIDENTS "ORDER BY " TO_COME("time_unix_ms") ", time_unix_ms DESC, rowid DESC "
#define NEWEST_INCIDENT NEWEST_INCIDENTS "LIMIT 1"

/*
 * What is counted over all jobs, one row each: ["incident", kind, [killer, policy, what was done then, cause], name]
 * and ["ended", state]. The name is in hexadecimal, since it may be no UTF-8.
 */
#define TALLY_ROWS(jobs, incidents)                                                                                    \
	"SELECT json_array('incident',i.kind,json_extract(CASE WHEN json_valid(i.json) THEN i.json ELSE '{}' END,"     \
	"'$.killer','$.policy.name','$.retry.next','$.cause.id'),"                                                     \
	"hex(coalesce((SELECT name FROM job j WHERE j.id=i.job),''))) AS key,1 AS n,i.time_unix_ms AS t,i.id AS id "   \
	"FROM incident i " incidents                                                                                   \
	" UNION ALL SELECT json_array('ended',CASE WHEN state='failed' AND stopped THEN 'stopped' ELSE state END),1,"  \
	"ended_unix_ms,'' FROM job WHERE state IN('done','failed','lost')" jobs
/* Counts of forgotten jobs are notes of no job. */
#define TALLY_KEPT "SELECT key,CAST(value AS INTEGER) AS n,0 AS t,'' AS id FROM note WHERE job='' AND key LIKE '[%'"

const struct store_statement store_statements[STATEMENT_MAX] = {
	[PUT_JOB] = {&store_job_table, true, ""},
	[PUT_PROCESS] = {&store_process_table, true, ""},
	[ADD_EVENT] = {&store_event_table, true, ""},
	[PUT_INCIDENT] = {NULL, true,
			  "INSERT INTO incident(id,job,attempt,kind,time_unix_ms,victim_pid,summary,json)"
			  " VALUES(?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT(id) DO UPDATE SET job=?2,attempt=?3,kind=?4,"
			  "time_unix_ms=?5,victim_pid=?6,summary=?7,json=?8"},
	[PUT_NOTE] = {NULL, true,
		      "INSERT INTO note(job,key,value) VALUES(?1,?2,?3) ON CONFLICT(job,key) DO UPDATE SET value=?3"},
	[GET_NOTE] = {NULL, false, "SELECT value FROM note WHERE job=?1 AND key=?2"},
	[DROP_NOTE] = {NULL, true, "DELETE FROM note WHERE job=?1 AND key=?2"},
	[FORGET_TALLY] = {NULL, true,
			  "INSERT INTO note(job,key,value) SELECT '',key,sum(n) FROM (" TALLY_ROWS(
				  " AND id=?1", "WHERE i.job=?1") ") WHERE true GROUP BY key ON CONFLICT(job,key) DO "
								  "UPDATE SET value=CAST(value AS INTEGER)+"
								  "CAST(excluded.value AS INTEGER)"},
	[FORGET_PROCESSES] = {NULL, true, "DELETE FROM process WHERE job=?1"},
	[FORGET_EVENTS] = {NULL, true, "DELETE FROM event WHERE job=?1"},
	[FORGET_INCIDENTS] = {NULL, true, "DELETE FROM incident WHERE job=?1"},
	[FORGET_NOTES] = {NULL, true, "DELETE FROM note WHERE job=?1"},
	[FORGET_JOB] = {NULL, true, "DELETE FROM job WHERE id=?1"},
	[EACH_NOTE] = {NULL, false, "SELECT key,value FROM note WHERE job=?1 ORDER BY key"},
	[JOB_BY_ID] = {&store_job_table, false, "WHERE id=?1"},
	[JOB_BY_NAME] = {&store_job_table, false, "WHERE name=?1 " NEWEST_JOB "LIMIT 1"},
	[JOB_LAST] = {&store_job_table, false, NEWEST_JOB "LIMIT 1"},
	[JOB_BY_PID] = {&store_job_table, false,
			"WHERE pid=?1 OR id IN (SELECT job FROM process WHERE pid=?1) " NEWEST_JOB "LIMIT 1"},
	[EACH_JOB] = {&store_job_table, false, NEWEST_JOB "LIMIT ?1"},
	[EACH_PROCESS] = {&store_process_table, false, "WHERE job=?1 ORDER BY attempt, rank, started_unix_ms, pid"},
	[EACH_EVENT] = {&store_event_table, false, "WHERE seq>?1 ORDER BY seq"},
	[EACH_EVENT_OF_JOB] = {&store_event_table, false, "WHERE seq>?1 AND job=?2 ORDER BY seq"}, /* by event_by_job */
	[INCIDENT_BY_ID] = {NULL, false, INCIDENT_JSON "WHERE id=?1"},
	[INCIDENT_BY_JOB] = {NULL, false, INCIDENT_JSON "WHERE job=?1 " NEWEST_INCIDENT},
	[INCIDENT_BY_PID] = {NULL, false, INCIDENT_JSON "WHERE victim_pid=?1 " NEWEST_INCIDENT},
	[INCIDENT_LAST] = {NULL, false, INCIDENT_JSON NEWEST_INCIDENT},
	[EACH_INCIDENT] = {NULL, false,
			   "SELECT id,json FROM incident WHERE ?1 IS NULL OR job=?1 ORDER BY time_unix_ms, rowid"},
	[EACH_MEMORY_KILL] = {NULL, false,
			      "SELECT id,json FROM (SELECT id,json,time_unix_ms,rowid AS row FROM incident WHERE "
			      "job=?1 AND kind IN ('memory_kill','kernel_oom','cgroup_oom') " NEWEST_INCIDENTS
			      "LIMIT " SQL_NUMBER(STORE_MEMORY_KILLS) ") ORDER BY time_unix_ms, row"},
	[HAS_EVENT] = {NULL, false,
		       "SELECT 1 FROM event WHERE job=?1 AND kind=?2 AND text=?3 AND time_unix_ms=?4 AND attempt=?5"},
	[LEND_JOB] = {&lent_job_table, true, ""},
	[LEND_PROCESS] = {&lent_process_table, true, ""},
	[LEND_EVENT] = {&lent_event_table, true, ""},
	[LEND_INCIDENT] = {NULL, true,
			   "INSERT INTO lent_incident(id,job,attempt,kind,time_unix_ms,victim_pid,summary,json)"
			   " VALUES(?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT(id) DO UPDATE SET job=?2,attempt=?3,kind=?4,"
			   "time_unix_ms=?5,victim_pid=?6,summary=?7,json=?8"},
	[EACH_TALLY] = {NULL, false,
			"SELECT key,json_array(n,t,id) FROM (SELECT key,sum(n) AS n,max(t) AS t,min(t) AS "
			"a,substr(max(printf('%020d',max(t,0))||id),21) AS id FROM "
			"(" TALLY_ROWS("", "") " UNION ALL " TALLY_KEPT ") GROUP BY key) ORDER BY a,key"},
	[COUNT_INCIDENTS] = {NULL, false, "SELECT count(*) FROM incident WHERE job=?1"},
};

static void add_names(const struct table *t, struct buf *b)
{
	for (size_t i = 0; i < t->n; i++)
		buf_printf(b, "%s%s", i ? "," : "", t->columns[i].name);
}

void store_sql_put(const struct table *t, struct buf *b)
{
	buf_printf(b, "INSERT INTO %s(", t->name);
	add_names(t, b);
	buf_add(b, ") VALUES(");
	for (size_t i = 0; i < t->n; i++)
		buf_printf(b, "%s?%zu", i ? "," : "", i + 1);
	buf_add(b, ") ON CONFLICT(");
	bool first = true;
	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].key)
			continue;
		buf_printf(b, "%s%s", first ? "" : ",", t->columns[i].name);
		first = false;
	}
	buf_add(b, ") DO UPDATE SET ");
	first = true;
	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->columns[i].name;
		if (t->columns[i].key)
			continue;
		buf_printf(b, "%s%s=excluded.%s", first ? "" : ",", name, name);
		first = false;
	}
}

void store_sql_select(const struct table *t, struct buf *b)
{
	buf_add(b, "SELECT ");
	add_names(t, b);
	buf_printf(b, " FROM %s ", t->name);
}
