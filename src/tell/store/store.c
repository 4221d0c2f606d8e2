#include "tell/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/private.h"
#include "base/text.h"
#include "base/units.h"
#include "tell/store/store_fault.h"
#include "tell/store/store_files.h"
#include "tell/store/store_sql.h"

/* After -EBUSY, a store in haste is not tried again for a second, then two, at most a minute. */
#define CLOSED_FIRST_NS NS_PER_S
#define CLOSED_MOST_NS (60 * NS_PER_S)
/* Pages of write-ahead log before they move into the database: recovery at open stays below a millisecond. */
#define CHECKPOINT_PAGES 256

struct store {
	sqlite3 *db;
	enum store_mode mode;
	dev_t dev; /* of the open file: another vigil may have moved it aside */
	ino_t ino;
	bool lent; /* rows go to the tables of store_lent_tables */
	char lender[PATH_MAX]; /* the folder of the jobs that were lent; "": none were */
	uint64_t closed_ns, closed_until_ns; /* STORE_HASTE: no write is tried before */
	sqlite3_stmt *statement[STATEMENT_MAX];
	char path[PATH_MAX - 64]; /* room for suffixes */
	char note[256];
};

/* SQLite's code as -errno. -EBADMSG stands for every kind of damage. */
static int error_of(sqlite3 *db, int rc)
{
	int system_errno = errno; /* SQLite keeps its own copy only for some calls */
	if (db && sqlite3_system_errno(db) > 0)
		system_errno = sqlite3_system_errno(db);
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* vigil's own SQL does not fit the tables */
		return -EBADMSG;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return rc == SQLITE_READONLY_DBMOVED ? -ESTALE : -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_IOERR:
		if (rc == SQLITE_IOERR_SHORT_READ || rc == SQLITE_IOERR_CORRUPTFS)
			return -EBADMSG;
		break;
	default:
		break;
	}
	return system_errno > 0 ? -system_errno : -EIO;
}

static void close_db(struct store *s)
{
	for (size_t i = 0; i < STATEMENT_MAX; i++) {
		sqlite3_finalize(s->statement[i]);
		s->statement[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

struct store *store_close(struct store *s)
{
	if (!s)
		return NULL;
	close_db(s);
	free(s);
	return NULL;
}

static int exec(struct store *s, const char *sql)
{
	return error_of(s->db, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static int pragma_int(struct store *s, const char *sql, int64_t *ret)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(q, 0);
	int r = rc == SQLITE_DONE ? -EBADMSG : error_of(s->db, rc);
	sqlite3_finalize(q);
	return r;
}

static int store_prepare(struct store *s, enum statement id, sqlite3_stmt **ret)
{
	if (!s->statement[id]) {
		char sql[1600];
		struct buf b = BUF_ON(sql);
		buf_reset(&b);
		if (store_statements[id].table)
			(store_statements[id].put ? store_sql_put : store_sql_select)(store_statements[id].table, &b);
		buf_add(&b, store_statements[id].sql);
		int rc = sqlite3_prepare_v3(s->db, sql, (int)b.len, SQLITE_PREPARE_PERSISTENT, &s->statement[id], NULL);
		if (rc != SQLITE_OK)
			return error_of(s->db, rc);
	}
	*ret = s->statement[id];
	return 0;
}

/* Compiles every statement, which fails if a table or column is missing. */
static int check_tables(struct store *s)
{
	sqlite3_stmt *q;
	for (size_t i = 0; i < STATEMENTS_ALWAYS; i++) {
		int r = store_prepare(s, (enum statement)i, &q);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Makes the tables and then sets the version, in one transaction. */
static int migrate(struct store *s)
{
	int r = exec(s, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	int64_t version; /* read again: another vigil may have migrated it meanwhile */
	r = pragma_int(s, "PRAGMA user_version", &version);
	for (; r == 0 && version >= 0 && version < STORE_SCHEMA; version++)
		r = exec(s, store_migrations[version]);
	char sql[96];
	TEXT_FORMAT(sql, "PRAGMA application_id=%d; PRAGMA user_version=%d", STORE_APPLICATION_ID, STORE_SCHEMA);
	if (r == 0)
		r = exec(s, sql);
	if (r == 0)
		r = exec(s, "COMMIT");
	if (r < 0)
		ignore(exec(s, "ROLLBACK"), "the first error is the one to tell");
	return r;
}

/*
 * A new file is made without waiting for the disk: losing power in that moment
 * loses a store with nothing in it.
 */
static int create(struct store *s)
{
	int r = exec(s, "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL");
	return r < 0 ? r : migrate(s);
}

/* How long a write waits for another vigil's write. */
static int busy_ms(const struct store *s)
{
	return s->mode == STORE_HASTE ? STORE_HASTE_MS : STORE_BUSY_S * 1000;
}

/* More than any row of ours. */
#define VALUE_MOST (32 * 1024 * 1024)

/* Whose store it is may have put anything into it: views without an end, and columns that are computed when read. */
static void untrusted(sqlite3 *db)
{
	static const int off[] = {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
				  SQLITE_DBCONFIG_TRUSTED_SCHEMA};
	for (size_t i = 0; i < ARRAY_SIZE(off); i++)
		(void)sqlite3_db_config(db, off[i], 0, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
}

static int connect(struct store *s, int flags)
{
	int rc = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return error_of(s->db, rc);
	sqlite3_busy_timeout(s->db, busy_ms(s));
	sqlite3_wal_autocheckpoint(s->db, CHECKPOINT_PAGES);
	/* The log is kept at close, so that `vigil run -- true` does not wait for the disk when it ends. */
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	untrusted(s->db);
	struct stat st;
	if (stat(s->path, &st) < 0)
		return -errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

/* Reads the schema's version. A file of another program counts as damage. */
static int judge_version(struct store *s, int64_t *ret_version)
{
	int64_t application, tables;
	int r = pragma_int(s, "PRAGMA user_version", ret_version);
	if (r == 0)
		r = pragma_int(s, "PRAGMA application_id", &application);
	if (r == 0)
		r = pragma_int(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (r < 0)
		return r;
	if (application == 0 && *ret_version == 0 && tables == 0)
		return 0; /* a new file whose maker has not made the tables yet */
	if (application != STORE_APPLICATION_ID || *ret_version < 1)
		return -EBADMSG;
	return *ret_version > STORE_SCHEMA ? -EPROTONOSUPPORT : 0;
}

/* In one transaction: another vigil may be making the tables just now. */
static int check_version(struct store *s, int64_t *ret_version)
{
	int r = exec(s, "BEGIN");
	if (r < 0)
		return r;
	r = judge_version(s, ret_version);
	int end = exec(s, "COMMIT");
	return r != 0 ? r : end;
}

static off_t file_bytes(const struct store *s, const char *suffix)
{
	char path[PATH_MAX];
	struct stat st;
	if (text_format(path, sizeof(path), "%s%s", s->path, suffix) >= (int)sizeof(path) || stat(path, &st) < 0)
		return 0;
	return st.st_size;
}

static int open_existing(struct store *s)
{
	int64_t version;
	int r = connect(s, SQLITE_OPEN_READWRITE);
	if (r == 0)
		r = check_version(s, &version);
	if (r == 0 && version < STORE_SCHEMA)
		r = migrate(s);
	if (r == 0)
		r = check_tables(s);
	if (r == 0)
		r = exec(s, "PRAGMA synchronous=NORMAL");
	return r;
}

static int open_new(struct store *s)
{
	/* SQLite would make a file that all may read; its log and index take over the mode */
	int made = open(s->path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, private_file());
	closep(&made);
	int r = connect(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (r == 0)
		r = create(s);
	if (r == 0)
		r = check_tables(s);
	if (r == 0)
		r = exec(s, "PRAGMA synchronous=NORMAL");
	return r;
}

static bool still_in_place(const struct store *s)
{
	struct stat st;
	return stat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino;
}

static int whole_file_check(struct store *s)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	int r = error_of(s->db, rc);
	if (rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
		r = -EBADMSG;
	sqlite3_finalize(q);
	return r;
}

/* Opens, makes or replaces the store; called with the lock held. */
static int open_locked(struct store *s, bool look_over)
{
	bool orphan_log = file_bytes(s, "") == 0 && file_bytes(s, "-wal") > 0;
	int r = orphan_log ? -EBADMSG : file_bytes(s, "") == 0 ? open_new(s) : open_existing(s);
	if (r == 0 && look_over)
		r = whole_file_check(s);
	if (look_over && (r == 0 || r == -EBADMSG))
		store_suspect(s->path, false);
	if (r != -EBADMSG)
		return r;
	char why[128];
	TEXT_COPY(why, orphan_log ? "the database was gone, its log was not" :
		       s->db && sqlite3_errcode(s->db) != SQLITE_OK ? sqlite3_errmsg(s->db) :
								    "not a store of vigil");
	close_db(s);
	r = store_move_aside(s->path, why, s->note);
	return r < 0 ? r : open_new(s);
}

static int open_to_write(struct store *s)
{
	bool look_over = store_suspected(s->path);
	if (!look_over && file_bytes(s, "") > 0) {
		int r = open_existing(s);
		if (r != -EBADMSG)
			return r;
		close_db(s);
	}
	cleanup(closep) unused int lock = store_lock(s->path, busy_ms(s));
	return open_locked(s, look_over);
}

static int open_to_read(struct store *s)
{
	if (file_bytes(s, "") == 0)
		return STORE_NONE;
	int64_t version;
	int r = connect(s, SQLITE_OPEN_READWRITE); /* falls back to read-only by itself */
	if (r == 0)
		r = check_version(s, &version);
	if (r == 0 && version == 0)
		return STORE_NONE;
	if (r == 0 && version < STORE_SCHEMA && migrate(s) < 0)
		return -EPROTOTYPE; /* the file may not be written */
	return r == 0 ? exec(s, "PRAGMA query_only=1") : r;
}

static int open_act(void *arg)
{
	struct store *s = arg;
	return s->mode == STORE_READ ? open_to_read(s) : open_to_write(s);
}

int store_open(const char *state_dir, enum store_mode mode, struct store **ret, char note[static 256],
	       struct fault *f)
{
	note[0] = '\0';
	cleanup(store_closep) struct store *s = calloc(1, sizeof(*s));
	if (!s)
		return fault_set(f, -ENOMEM, "no memory to open the store in %s", state_dir);
	s->mode = mode;
	if (text_format(s->path, sizeof(s->path), "%s/" STORE_FILE, state_dir) >= (int)sizeof(s->path))
		return fault_set(f, -ENAMETOOLONG, "the state directory's path is too long: %s", state_dir);
	int r = store_check_directory(state_dir, mode, f);
	if (r < 0)
		return mode == STORE_READ && r == -ENOENT ? store_explain(s->path, state_dir, mode, STORE_NONE, f) : r;
	r = store_as_owner(s->path, open_act, s);
	if (r != 0)
		return store_explain(s->path, state_dir, mode, r, f);
	(void)store_take_note(s, note);
	*ret = take(&s);
	return 0;
}

bool store_take_note(struct store *s, char note[static 256])
{
	bool any = s->note[0] != '\0';
	if (any)
		text_copy(note, sizeof(s->note), s->note);
	s->note[0] = '\0';
	return any;
}

static int reopen(struct store *s)
{
	close_db(s);
	int r = store_as_owner(s->path, open_act, s);
	if (r < 0)
		close_db(s);
	return r;
}

/* Called after a write met damage: checks the file, moves it aside if it is bad, and starts a new one. */
static int repair(struct store *s)
{
	if (still_in_place(s))
		store_suspect(s->path, true);
	return reopen(s);
}

/* Runs a statement whose parameters are bound, and resets it. */
static int run_put(struct store *s, sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);
	int r = error_of(s->db, rc);
	(void)sqlite3_reset(q);
	(void)sqlite3_clear_bindings(q);
	return r;
}

typedef int put_fn(struct store *s, const void *what);

static int put_repairing(struct store *s, put_fn *fn, const void *what)
{
	int r = s->db && still_in_place(s) ? 0 : reopen(s);
	if (r == 0)
		r = fn(s, what);
	if (r != -EBADMSG && r != -ESTALE)
		return r;
	r = repair(s);
	return r < 0 ? r : fn(s, what);
}

static int store_put(struct store *s, put_fn *fn, const void *what)
{
	if (s->lent)
		return fn(s, what);
	if (s->mode == STORE_READ)
		return -EROFS;
	if (s->closed_until_ns > 0 && clock_mono_ns() < s->closed_until_ns)
		return -EBUSY;
	int r = put_repairing(s, fn, what);
	if (r == -EBUSY && s->mode == STORE_HASTE) {
		s->closed_ns = s->closed_ns ? MIN(2 * s->closed_ns, CLOSED_MOST_NS) : CLOSED_FIRST_NS;
		s->closed_until_ns = clock_mono_ns() + s->closed_ns;
	} else if (r == 0) {
		s->closed_ns = s->closed_until_ns = 0;
	}
	return r;
}

static int bind_text(sqlite3_stmt *q, int at, const char *text)
{
	return text ? sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC) : sqlite3_bind_null(q, at);
}

static int bind_column(sqlite3_stmt *q, int at, const struct column *c, const char *row)
{
	const void *v = row + c->offset;
	uint32_t u32;
	uint64_t u64;
	if (c->valid && !*(const bool *)(row + c->valid))
		return sqlite3_bind_null(q, at);
	switch (c->type) {
	case COLUMN_TEXT:
		return sqlite3_bind_text(q, at, v, (int)strnlen(v, c->size - 1), SQLITE_STATIC);
	case COLUMN_BOOL:
		return sqlite3_bind_int(q, at, *(const bool *)v);
	case COLUMN_I32:
		return sqlite3_bind_int(q, at, *(const int32_t *)v);
	case COLUMN_U32:
		memcpy(&u32, v, sizeof(u32));
		return sqlite3_bind_int64(q, at, (sqlite3_int64)u32);
	case COLUMN_I64:
		return sqlite3_bind_int64(q, at, *(const int64_t *)v);
	case COLUMN_U64:
		memcpy(&u64, v, sizeof(u64));
		return sqlite3_bind_int64(q, at, (sqlite3_int64)MIN(u64, (uint64_t)INT64_MAX));
	case COLUMN_STATE:
		return bind_text(q, at, job_state_name(*(const enum job_state *)v));
	}
	return SQLITE_MISUSE;
}

static void read_column(sqlite3_stmt *q, int at, const struct column *c, char *row)
{
	void *v = row + c->offset;
	const char *text;
	if (c->valid)
		*(bool *)(row + c->valid) = sqlite3_column_type(q, at) != SQLITE_NULL;
	switch (c->type) {
	case COLUMN_TEXT:
		text = (const char *)sqlite3_column_text(q, at);
		text_copy(v, c->size, text ? text : "");
		break;
	case COLUMN_BOOL:
		*(bool *)v = sqlite3_column_int(q, at) != 0;
		break;
	case COLUMN_I32:
		*(int32_t *)v = sqlite3_column_int(q, at);
		break;
	case COLUMN_U32:
		*(uint32_t *)v = (uint32_t)sqlite3_column_int64(q, at);
		break;
	case COLUMN_I64:
		*(int64_t *)v = sqlite3_column_int64(q, at);
		break;
	case COLUMN_U64:
		*(uint64_t *)v = (uint64_t)sqlite3_column_int64(q, at);
		break;
	case COLUMN_STATE:
		text = (const char *)sqlite3_column_text(q, at);
		*(enum job_state *)v = job_state_of(text ? text : "");
		break;
	}
}

static void read_row(sqlite3_stmt *q, const struct table *t, void *row)
{
	for (size_t i = 0; i < t->n; i++)
		read_column(q, (int)i, &t->columns[i], row);
}

static int put_row(struct store *s, enum statement id, const void *row, size_t n_bound)
{
	sqlite3_stmt *q;
	int r = store_prepare(s, id, &q);
	for (size_t i = 0; r == 0 && i < n_bound; i++)
		r = error_of(s->db, bind_column(q, (int)i + 1, &store_statements[id].table->columns[i], row));
	return r < 0 ? r : run_put(s, q);
}

static int put_job_row(struct store *s, const void *row)
{
	return put_row(s, s->lent ? LEND_JOB : PUT_JOB, row, store_job_table.n);
}

int store_put_job(struct store *s, const struct job *j)
{
	struct job lent;
	if (s->lent && j->log_dir[0]) {
		lent = *j;
		TEXT_FORMAT(lent.log_dir, "%s/jobs/%s", s->lender, j->id);
		j = &lent;
	}
	return store_put(s, put_job_row, j);
}

static int put_process_row(struct store *s, const void *row)
{
	return put_row(s, s->lent ? LEND_PROCESS : PUT_PROCESS, row, store_process_table.n);
}

int store_put_process(struct store *s, const struct job_process *p)
{
	return store_put(s, put_process_row, p);
}

static int add_event_row(struct store *s, const void *row)
{
	/* seq stays NULL: the next number */
	return put_row(s, s->lent ? LEND_EVENT : ADD_EVENT, row, store_event_table.n - 1);
}

int store_add_event(struct store *s, const struct job_event *e, uint64_t *ret_seq)
{
	int r = store_put(s, add_event_row, e);
	if (r == 0 && ret_seq)
		*ret_seq = (uint64_t)sqlite3_last_insert_rowid(s->db);
	return r;
}

struct put_texts {
	enum statement id;
	const char *text[8]; /* bound where not NULL */
	int64_t number[8];   /* bound elsewhere */
	int n;
};

static int put_texts(struct store *s, const void *what)
{
	const struct put_texts *p = what;
	sqlite3_stmt *q;
	int r = store_prepare(s, p->id, &q);
	for (int i = 0; r == 0 && i < p->n; i++)
		r = error_of(s->db, p->text[i] ? bind_text(q, i + 1, p->text[i]) :
						 sqlite3_bind_int64(q, i + 1, p->number[i]));
	return r < 0 ? r : run_put(s, q);
}

int store_put_incident(struct store *s, const struct store_incident *i)
{
	const struct put_texts p = {
		.id = s->lent ? LEND_INCIDENT : PUT_INCIDENT,
		.text = {i->id, i->job, NULL, i->kind, NULL, NULL, i->summary, i->json},
		.number = {0, 0, i->attempt, 0, i->time_unix_ms, i->victim_pid},
		.n = 8,
	};
	return store_put(s, put_texts, &p);
}

static int begin_now(struct store *s, const void *what)
{
	(void)what;
	return exec(s, "BEGIN IMMEDIATE");
}

int store_begin(struct store *s)
{
	return store_put(s, begin_now, NULL);
}

int store_commit(struct store *s)
{
	return s->db ? exec(s, "COMMIT") : -EBADF;
}

/* ---- lending ---- */

int store_open_empty(struct store **ret)
{
	cleanup(store_closep) struct store *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->mode = STORE_READ;
	int rc = sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	int r = error_of(s->db, rc);
	r = r ? r : migrate(s);
	*ret = r == 0 ? take(&s) : *ret;
	return r;
}

int store_lend_begin(struct store *s, const char *folder)
{
	TEXT_COPY(s->lender, folder);
	int r = exec(s, "PRAGMA query_only=0");
	r = r ? r : exec(s, store_lent_tables);
	s->lent = r == 0;
	return r == 0 ? exec(s, "SAVEPOINT lent") : r;
}

int store_lend_end(struct store *s)
{
	int r = exec(s, "RELEASE lent");
	s->lent = false;
	return r == 0 ? exec(s, "PRAGMA query_only=1") : r;
}

int store_put_note(struct store *s, const char *job, const char *key, const char *value)
{
	return store_put(s, put_texts, &(struct put_texts){.id = PUT_NOTE, .text = {job, key, value}, .n = 3});
}

int store_drop_note(struct store *s, const char *job, const char *key)
{
	return store_put(s, put_texts, &(struct put_texts){.id = DROP_NOTE, .text = {job, key}, .n = 2});
}

/* In one transaction: an interrupted call would count twice. */
int store_forget_job(struct store *s, const char *job)
{
	int r = store_begin(s);
	for (int id = FORGET_TALLY; r == 0 && id <= FORGET_JOB; id++)
		r = store_put(s, put_texts, &(struct put_texts){.id = (enum statement)id, .text = {job}, .n = 1});
	if (r < 0 && s->db)
		ignore(exec(s, "ROLLBACK"), "there may be nothing to roll back");
	return r == 0 ? store_commit(s) : r;
}

/* Starts a query; texts may be NULL. */
static int store_ask(struct store *s, enum statement id, const char *first, const char *second, sqlite3_stmt **ret)
{
	if (!s->db)
		return -EBADF; /* an earlier repair failed */
	int r = store_prepare(s, id, ret);
	if (r < 0)
		return r;
	(void)sqlite3_reset(*ret);
	int n = sqlite3_bind_parameter_count(*ret);
	if (n >= 1)
		r = error_of(s->db, bind_text(*ret, 1, first));
	return r == 0 && n >= 2 ? error_of(s->db, bind_text(*ret, 2, second)) : r;
}

/* 0: a row is there; STORE_NONE: no more. The statement is reset unless there is a row. */
static int next(struct store *s, sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		return 0;
	(void)sqlite3_reset(q);
	(void)sqlite3_clear_bindings(q);
	int r = rc == SQLITE_DONE ? STORE_NONE : error_of(s->db, rc);
	if (r == -EBADMSG)
		store_suspect(s->path, true);
	return r;
}

static int done(sqlite3_stmt *q, int r)
{
	(void)sqlite3_reset(q);
	(void)sqlite3_clear_bindings(q);
	return r;
}

/* Asks for the only row of a query. 0: a row is there; STORE_NONE. */
static int ask_one(struct store *s, enum statement id, const char *first, const char *second, sqlite3_stmt **ret)
{
	int r = store_ask(s, id, first, second, ret);
	return r == 0 ? next(s, *ret) : r;
}

/* The same; number is bound as the first parameter if not NULL. */
static int ask_number(struct store *s, enum statement id, const char *first, const int64_t *number, sqlite3_stmt **ret)
{
	int r = store_ask(s, id, first, NULL, ret);
	if (r == 0 && number)
		r = error_of(s->db, sqlite3_bind_int64(*ret, 1, *number));
	return r == 0 ? next(s, *ret) : r;
}

/* Calls fn with the first two columns of each row. */
typedef int two_texts_fn(void *ctx, const char *first, const char *second);
static int each_two_texts(struct store *s, enum statement id, const char *job, two_texts_fn *fn, void *ctx)
{
	sqlite3_stmt *q;
	int r = store_ask(s, id, job, NULL, &q);
	while (r == 0 && (r = next(s, q)) == 0)
		if (fn(ctx, (const char *)sqlite3_column_text(q, 0), (const char *)sqlite3_column_text(q, 1)) != 0)
			return done(q, STORE_STOPPED);
	return r == STORE_NONE ? 0 : r;
}

int store_get_note(struct store *s, const char *job, const char *key, char *dst, size_t cap)
{
	sqlite3_stmt *q;
	int r = ask_one(s, GET_NOTE, job, key, &q);
	if (r != 0)
		return r;
	text_copy(dst, cap, (const char *)sqlite3_column_text(q, 0));
	return done(q, 0);
}

int store_each_note(struct store *s, const char *job, store_note_fn *fn, void *ctx)
{
	return each_two_texts(s, EACH_NOTE, job, fn, ctx);
}

static bool is_folder_name(const char *id)
{
	return id[0] != '\0' && id[0] != '.' && !strchr(id, '/');
}

/*
 * A row says where the job's folder was when the row was made, and whoever can write the store says anything. What
 * counts is which of the two folders of this state directory that is, or the one it was lent with.
 */
static void log_dir_settle(const struct store *s, struct job *j)
{
	char form[256], users[32], path[sizeof(j->log_dir)];
	struct span said = span_of(j->log_dir), state = {s->path, sub_floor(strlen(s->path), sizeof(STORE_FILE))};
	if (!said.len)
		return;
	TEXT_FORMAT(users, "/users/%u", (unsigned)j->uid);
	TEXT_FORMAT(form, "%s/jobs/%s", users, j->id);
	if (said.len < strlen(form) || strcmp(said.p + said.len - strlen(form), form) != 0)
		users[0] = '\0';
	TEXT_FORMAT(path, "%s/jobs/%s", s->lender, j->id);
	if (!is_folder_name(j->id) || (state.len == 0 && !s->lender[0]))
		j->log_dir[0] = '\0';
	else if (!s->lender[0] || strcmp(path, j->log_dir) != 0)
		TEXT_FORMAT(j->log_dir, "%.*s%s/jobs/%s", (int)state.len, state.p, users, j->id);
}

/* number is bound instead of `what` if not NULL. */
static int one_job(struct store *s, enum statement id, const char *what, const int64_t *number, struct job *ret)
{
	sqlite3_stmt *q;
	int r = ask_number(s, id, what, number, &q);
	if (r != 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	read_row(q, &store_job_table, ret);
	log_dir_settle(s, ret);
	return done(q, 0);
}

int store_find_job(struct store *s, const char *name, struct job *ret)
{
	int r = one_job(s, JOB_BY_ID, name, NULL, ret);
	if (r == STORE_NONE)
		r = one_job(s, JOB_BY_NAME, name, NULL, ret);
	if (r == STORE_NONE && strcmp(name, "last") == 0)
		r = one_job(s, JOB_LAST, NULL, NULL, ret);
	return r;
}

int store_find_job_of_pid(struct store *s, pid_t pid, struct job *ret)
{
	return one_job(s, JOB_BY_PID, NULL, &(int64_t){pid}, ret);
}

int store_each_job(struct store *s, size_t limit, store_job_fn *fn, void *ctx)
{
	sqlite3_stmt *q;
	int r = store_ask(s, EACH_JOB, NULL, NULL, &q);
	if (r == 0)
		r = error_of(s->db, sqlite3_bind_int64(q, 1, limit ? (sqlite3_int64)limit : -1));
	while (r == 0 && (r = next(s, q)) == 0) {
		struct job row = {0};
		read_row(q, &store_job_table, &row);
		log_dir_settle(s, &row);
		if (fn(ctx, &row) != 0)
			return done(q, STORE_STOPPED);
	}
	return r == STORE_NONE ? 0 : r;
}

int store_each_process(struct store *s, const char *job, store_process_fn *fn, void *ctx)
{
	sqlite3_stmt *q;
	int r = store_ask(s, EACH_PROCESS, job, NULL, &q);
	while (r == 0 && (r = next(s, q)) == 0) {
		struct job_process row = {0};
		read_row(q, &store_process_table, &row);
		if (fn(ctx, &row) != 0)
			return done(q, STORE_STOPPED);
	}
	return r == STORE_NONE ? 0 : r;
}

int store_each_event(struct store *s, const char *job, uint64_t after, store_event_fn *fn, void *ctx)
{
	sqlite3_stmt *q;
	int r = store_ask(s, job ? EACH_EVENT_OF_JOB : EACH_EVENT, NULL, job, &q);
	if (r == 0)
		r = error_of(s->db, sqlite3_bind_int64(q, 1, (sqlite3_int64)after));
	while (r == 0 && (r = next(s, q)) == 0) {
		struct job_event row = {0};
		read_row(q, &store_event_table, &row);
		if (fn(ctx, &row) != 0)
			return done(q, STORE_STOPPED);
	}
	return r == STORE_NONE ? 0 : r;
}

static int one_json(struct store *s, enum statement id, const char *what, const int64_t *number, char **ret_json)
{
	sqlite3_stmt *q;
	int r = ask_number(s, id, what, number, &q);
	if (r != 0)
		return r;
	const char *json = (const char *)sqlite3_column_text(q, 0);
	char *copy = strdup(json ? json : "");
	if (!copy)
		return done(q, -ENOMEM);
	*ret_json = copy;
	return done(q, 0);
}

int store_find_incident(struct store *s, const char *what, char **ret_json)
{
	struct job j;
	int64_t pid;
	int r = one_json(s, INCIDENT_BY_ID, what, NULL, ret_json);
	if (r == STORE_NONE)
		r = one_json(s, INCIDENT_BY_JOB, what, NULL, ret_json);
	if (r == STORE_NONE && (r = one_job(s, JOB_BY_NAME, what, NULL, &j)) == 0)
		return one_json(s, INCIDENT_BY_JOB, j.id, NULL, ret_json);
	if (r == STORE_NONE && span_i64(span_of(what), &pid) == 0)
		r = one_json(s, INCIDENT_BY_PID, NULL, &pid, ret_json);
	if (r == STORE_NONE && strcmp(what, "last") == 0)
		r = one_json(s, INCIDENT_LAST, NULL, NULL, ret_json);
	return r;
}

bool store_has_event(struct store *s, const struct job_event *e)
{
	sqlite3_stmt *q;
	int r = store_ask(s, HAS_EVENT, e->job, e->kind, &q);
	r = r ? r : error_of(s->db, bind_text(q, 3, e->text));
	r = r ? r : error_of(s->db, sqlite3_bind_int64(q, 4, e->time_unix_ms));
	r = r ? r : error_of(s->db, sqlite3_bind_int64(q, 5, e->attempt));
	return r == 0 && next(s, q) == 0 && done(q, 0) == 0;
}

int store_each_incident(struct store *s, const char *job, store_incident_fn *fn, void *ctx)
{
	return each_two_texts(s, EACH_INCIDENT, job, fn, ctx);
}

int store_each_memory_kill(struct store *s, const char *job, store_incident_fn *fn, void *ctx)
{
	return each_two_texts(s, EACH_MEMORY_KILL, job, fn, ctx);
}

int store_count_incidents(struct store *s, const char *job, uint32_t *ret)
{
	sqlite3_stmt *q;
	int r = ask_one(s, COUNT_INCIDENTS, job, NULL, &q);
	if (r != 0)
		return r;
	*ret = (uint32_t)sqlite3_column_int64(q, 0);
	return done(q, 0);
}

int store_each_tally(struct store *s, store_note_fn *fn, void *ctx)
{
	return each_two_texts(s, EACH_TALLY, NULL, fn, ctx);
}
