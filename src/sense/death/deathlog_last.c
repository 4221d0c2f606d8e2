/* The line at the end of a log that says why: before the frames of a stack that follow it, with the lines before it. */
#include <string.h>

#include "base/buf.h"
#include "sense/death/deathlog_parts.h"
#include "sense/death/stackplace.h"

#define BEFORE 2 /* lines before it that are kept */

static bool indented(struct span line)
{
	return line.len > 0 && (line.p[0] == ' ' || line.p[0] == '\t');
}

/* The causes of an error of Rust's anyhow stand indented below it; Java's stand on the line itself. */
static bool causes_follow(struct span line)
{
	return span_eq(span_trim(line), "Caused by:");
}

/* What runtimes (Go, Rust, Node.js, V8, Fortran, sanitizers) write around the frames of a stack. */
bool deathlog_around_frames(struct span line)
{
	static const char *const starts[] = {"note: ",
					     "Node.js v",
					     "goroutine ",
					     "runtime stack:", /* of Go's own thread */
					     "Thread 0x", /* of faulthandler */
					     "Current thread 0x",
					     "stack backtrace:",
					     "Stack backtrace:",
					     "exit status ",
					     "[signal SIG",
					     "created by ",
					     "Error termination. Backtrace:",
					     "----- Native stack trace -----",
					     "READ of size ",
					     "WRITE of size ",
					     "freed by thread ",
					     "previously allocated by thread ",
					     "Shadow byte",
					     "HINT: this may be a false positive",
					     "Address 0x",
					     "allocated by thread ",
					     "SUMMARY: "};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return causes_follow(line) || (span_starts(line, "...") && span_has(line, " frames elided..."));
}

static size_t digits_at(struct span line, size_t from)
{
	size_t n = from;
	while (n < line.len && line.p[n] >= '0' && line.p[n] <= '9')
		n++;
	return n - from;
}

/* "#0  0x7f52 in main", "10: 0xb7a940 node::Abort()", "0x602000000013 is located 3 bytes inside", "=>0x0c04: fa". */
static bool numbered_frame(struct span line)
{
	size_t n = digits_at(line, 0);
	struct span rest = {line.p + n, line.len - n};
	return (n > 0 && span_starts(rest, ": 0x")) || span_starts(line, "0x") || span_starts(line, "=>0x") ||
	       (span_starts(line, "#") && digits_at(line, 1) > 0);
}

/* What a sanitizer writes with its pid in front, "==71==ABORTING", and its rulers. The error's line is the reason. */
static bool sanitizer_talk(struct span line)
{
	size_t n = span_starts(line, "==") ? digits_at(line, 2) : 0;
	struct span rest = {line.p + n + 2, line.len - n - 2};
	return n > 0 && span_starts(rest, "==") && !span_starts(rest, "==ERROR: ");
}

/* A bracket that closes the fields of an error, a ruler. */
static bool wordless(struct span line)
{
	for (size_t i = 0; i < line.len; i++) {
		unsigned char c = (unsigned char)line.p[i];
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80)
			return false;
	}
	return true;
}

/* " 67%|######    | 2/3 [00:00<00:00,  5.1it/s]": how far it came, which is no reason. */
static bool progress_bar(struct span line)
{
	return span_has(line, "%|") && span_has(line, "[") && line.p[line.len - 1] == ']' &&
	       (span_has(line, "it/s") || span_has(line, "s/it"));
}

/* Go writes each frame as two lines: the function, and its place below it. */
static bool names_function(struct span line, struct span below)
{
	return line.len > 0 && line.p[line.len - 1] == ')' && below.len > 0 && below.p[0] == '\t';
}

static const struct span *kept(const struct reading *r, size_t back)
{
	return &r->latest[(r->n_latest - 1 - back) % DEATHLOG_LATEST];
}

/*
 * What Slurm and MPI's launchers say of how a step or rank ended: the reason is what that one itself said before. Open
 * MPI frames it with rulers, which have no words.
 */
static bool launcher_talk(struct span line)
{
	static const char *const starts[] = {"srun: ",
					     "slurmstepd: ",
					     "application called MPI_Abort(",
					     "MPI_ABORT was invoked on rank ",
					     "with errorcode ",
					     "NOTE: invoking MPI_ABORT causes ",
					     "You may or may not see output from other processes, ",
					     "exactly when Open MPI kills them.",
					     "Primary job  terminated normally, but ",
					     "a non-zero exit code. Per user-direction, the job has been aborted.",
					     "mpirun noticed that process rank ",
					     "mpirun detected that one or more processes exited ",
					     "the job to be terminated. The first process to do so was:",
					     "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
					     "This typically refers to a problem with your application.",
					     "Please see the FAQ page for debugging suggestions"};
	if (line.len > 4 && line.p[0] == '=' && span_starts((struct span){line.p + 1, line.len - 1}, "   "))
		return true; /* of MPICH's box: "=   EXIT CODE: 139" */
	if (span_starts(line, "Abort(") && span_has(line, " application called MPI_Abort("))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return false;
}

/* The line of a launcher's talk that says most: where a rank's signal or its abort is named. */
static bool says_how(struct span line)
{
	return span_has(line, "MPI_A") || span_starts(line, "YOUR APPLICATION TERMINATED") ||
	       span_starts(line, "mpirun noticed ");
}

/*
 * An indented line that is no frame: what C++ says of the exception below "terminate called after throwing an instance
 * of", and the panic of a Go function that was handling one.
 */
static bool says_what(struct span line)
{
	return span_starts(span_trim(line), "what():") || span_starts(span_trim(line), "panic: ");
}

/* The JVM frames its report of a fault with "#"; the fault stands below the head. SIZE_MAX: there is none. */
static size_t jvm_fault_at(const struct reading *r, size_t have)
{
	for (size_t back = 0; back < have; back++)
		if (span_starts(*kept(r, back), "# A fatal error has been detected by the Java Runtime Environment"))
			for (size_t at = back; at-- > 0;)
				if (span_starts(*kept(r, at), "#  "))
					return at;
	return SIZE_MAX;
}

/* How many lines back the reason stands; 0: the last line. */
static size_t reason_at(const struct reading *r, size_t have)
{
	size_t summary = 0, talk = have;
	const size_t fault = jvm_fault_at(r, have);
	if (fault != SIZE_MAX)
		return fault;
	for (size_t back = 0; back < have; back++) {
		struct span line = *kept(r, back);
		if (span_starts(line, "SUMMARY: ") && summary == 0)
			summary = back;
		bool below = indented(line) && !says_what(line);
		if (below || deathlog_around_frames(line) || numbered_frame(line) || sanitizer_talk(line) ||
		    wordless(line) || progress_bar(line))
			continue;
		if (back > 0 && names_function(line, *kept(r, back - 1)))
			continue;
		if (launcher_talk(line)) {
			talk = says_how(line) ? back : MIN(talk, back);
			continue;
		}
		return talk < have && logshape_repeats(&r->shape, line) ? talk : back;
	}
	if (talk < have)
		return talk;
	return summary; /* the stacks of a long report may fill all that is kept */
}

/*
 * In Rust, a thread that joins one that has panicked panics in its turn, with "Any { .. }" for a reason: the first of
 * the panics says why.
 */
static size_t first_panic_at(const struct reading *r, size_t have, size_t at)
{
	size_t found = at;
	if (!span_has(*kept(r, at), "Any { .. }"))
		return at;
	for (size_t back = at + 1; back < have; back++) {
		struct span line = *kept(r, back);
		if (logshape_repeats(&r->shape, line))
			break;
		if (!span_starts(line, "thread '") || !span_has(line, " panicked at "))
			continue;
		/* Since 1.73 the message has a line of its own below. */
		size_t text = line.p[line.len - 1] == ':' ? back - 1 : back;
		if (!span_has(*kept(r, text), "Any { .. }"))
			found = text;
	}
	return found;
}

static bool json_object(struct span line)
{
	return line.len > 1 && line.p[0] == '{' && line.p[line.len - 1] == '}';
}

static bool json_of_error(struct span line)
{
	static const char *const levels[] = {"error", "ERROR", "critical", "CRITICAL", "fatal", "FATAL"};
	static const char *const keys[] = {"\"level\"", "\"levelname\"", "\"severity\"", "\"log_level\""};
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		struct span value = span_trim(span_after(line, keys[k]));
		if (!value.p || !span_starts(value, ":"))
			continue;
		value = span_before(span_after(span_after(value, ":"), "\""), "\"");
		for (size_t l = 0; value.p && l < ARRAY_SIZE(levels); l++)
			if (span_eq(value, levels[l]))
				return true;
	}
	return false;
}

/*
 * A program that logs JSON tells its error as one line, and others of the same end may follow. at: where the last line
 * stands. What its loop went on after is no reason.
 */
static size_t json_error_at(const struct reading *r, size_t have, size_t at)
{
	for (size_t back = at; back < have && json_object(*kept(r, back)); back++) {
		if (logshape_repeats(&r->shape, *kept(r, back)))
			break;
		if (json_of_error(*kept(r, back)))
			return back;
	}
	return at;
}

/* The level by which loggers mark a line, as a word in its first part: 2 of an error, 1 of anything less; 0: none. */
static int level_of(struct span line)
{
	static const char *const words[] = {"ERROR", "CRITICAL", "FATAL", "INFO", "DEBUG", "WARNING", "WARN", "NOTICE"};
	const size_t n_errors = 3, first_part = 80, len = MIN(line.len, first_part);
	for (size_t at = 0, n; at < len; at += n + 1) {
		for (n = 0; at + n < len && line.p[at + n] >= 'A' && line.p[at + n] <= 'Z';)
			n++;
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			if (span_eq((struct span){line.p + at, n}, words[k]))
				return k < n_errors ? 2 : 1;
	}
	return 0;
}

/* After the line of an error a logger may have told, as lesser ones, what else was done on the way out. */
static size_t logged_error_at(const struct reading *r, size_t have, size_t at)
{
	for (size_t back = at; back < have && level_of(*kept(r, back)) > 0; back++) {
		if (logshape_repeats(&r->shape, *kept(r, back)))
			break;
		if (level_of(*kept(r, back)) == 2)
			return back;
	}
	return at;
}

/* The exception at the end of a traceback that stands in a JSON string, with its line ends escaped; else the line. */
static struct span json_exception(struct span line)
{
	struct span s = json_object(line) ? span_after(line, "Traceback (most recent call last):") : (struct span){0};
	size_t end = 0, begin;
	if (!s.p)
		return line;
	while (end < s.len && s.p[end] != '"')
		end += s.p[end] == '\\' ? 2 : 1;
	s.len = MIN(end, s.len);
	while (s.len >= 2 && s.p[s.len - 2] == '\\' && s.p[s.len - 1] == 'n')
		s.len -= 2;
	for (begin = s.len; begin >= 2 && !(s.p[begin - 2] == '\\' && s.p[begin - 1] == 'n');)
		begin--;
	s = (struct span){s.p + begin, s.len - begin};
	return begin >= 2 && s.len > 0 && !indented(s) ? s : line;
}

/* An exception is told, or left out, by its own hint. */
static bool ended_traceback(const struct reading *r, struct span line)
{
	for (size_t i = 0; i < r->d->n; i++) {
		const struct log_hint *h = &r->d->hints[i];
		bool traceback = strcmp(h->id, "python_traceback") == 0 || strcmp(h->id, "earlier_traceback") == 0;
		if (traceback && strcmp(h->source, r->source) == 0 && span_starts(line, h->text))
			return true;
	}
	return false;
}

/* "NameError: name 'modle' is not defined": a line that a traceback could end with. */
static bool error_line(struct span line)
{
	struct span name = span_before(line, ": ");
	size_t dot = 0;
	if (!name.p || name.len < 6 || indented(line))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		if (!(c == '.' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9' && i > 0)))
			return false;
		dot = c == '.' ? i + 1 : dot;
	}
	name = (struct span){name.p + dot, name.len - dot};
	return name.len > 5 && (span_eq((struct span){name.p + name.len - 5, 5}, "Error") ||
				(name.len > 9 && span_eq((struct span){name.p + name.len - 9, 9}, "Exception")));
}

/*
 * A program that runs others (notebooks, remote tasks) raises an exception whose text of many lines is that of the
 * other one: the error is the text's last line.
 */
static void told_inside(const struct reading *r, struct span last)
{
	if (!error_line(last) || logshape_repeats(&r->shape, last))
		return;
	for (size_t i = 0; i < r->d->n; i++) {
		struct log_hint *h = &r->d->hints[i];
		size_t n = strlen(h->text);
		if (strcmp(h->id, "python_traceback") != 0 || strcmp(h->source, r->source) != 0 || h->rank != r->rank ||
		    h->of_thread || h->line == 0 || r->line - h->line > DEATHLOG_LATEST || span_starts(last, h->text))
			continue;
		bool open = n > 0 && (h->text[n - 1] == ':' || h->text[n - 1] == ')');
		if (!open || h->first[0])
			continue;
		TEXT_COPY(h->first, h->text);
		h->direct = true;
		span_copy(last, h->text, sizeof(h->text));
	}
}

static struct span after_mark(struct span line, const char *mark)
{
	line = span_trim(line);
	return span_starts(line, mark) ? span_after(line, mark) : (struct span){NULL, 0};
}

/*
 * The first cause of the error at this line, as runtimes write it below: Node's "[cause]: …" and .NET's "---> …" among
 * the frames, the first of Node's "[errors]: [", anyhow's last line below "Caused by:".
 */
static struct span cause_below(const struct reading *r, size_t at)
{
	struct span cause = {NULL, 0};
	bool listed = false;
	for (size_t back = at; back-- > 0;) {
		const struct span line = *kept(r, back);
		const struct span node = after_mark(line, "[cause]: "), net = after_mark(line, "---> ");
		listed = indented(line) ? listed : causes_follow(line);
		if (node.p || net.p)
			cause = node.p ? node : net;
		else if (back > 0 && !cause.p && span_eq(span_trim(line), "[errors]: ["))
			cause = span_trim(*kept(r, back - 1));
		else if (listed && indented(line))
			cause = span_trim(line);
	}
	return cause;
}

/* A line that comes again, with the same numbers or with others; bars may begin with blanks. */
static bool comes_again(const struct reading *r, size_t have, size_t at)
{
	struct logshape near = {.n = 0};
	const struct span line = span_trim(*kept(r, at));
	if (logshape_repeats(&r->shape, line))
		return true;
	for (size_t back = have; back-- > at;) {
		struct span other = span_trim(*kept(r, back));
		if (back > at && other.len == line.len && memcmp(other.p, line.p, line.len) == 0)
			return true;
		logshape_add(&near, other, (uint32_t)(have - back));
	}
	return logshape_repeats(&near, line);
}

/* "wandb: Synced 6 files": a part of a program that marks its lines so. Its mark; empty: none. */
static struct span mark_of(struct span line)
{
	size_t n = 0;
	while (n < line.len && line.p[n] > ' ')
		n++;
	return n > 2 && n < line.len && line.p[n - 1] == ':' ? (struct span){line.p, n} : (struct span){NULL, 0};
}

/*
 * The lines before that at this one, at most BEFORE, the latest first. Of one part's several lines the latest only. Of
 * an error that was told with its stack right before only the line above the stack.
 */
static size_t lines_before(const struct reading *r, size_t have, size_t at, struct span *ret)
{
	const bool stack = at + 1 < have && indented(*kept(r, at + 1));
	const size_t most = stack ? 1 : BEFORE, details = 4; /* so few lines may also be those of a message */
	const struct span mark = mark_of(*kept(r, at));
	size_t n = 0;
	for (size_t back = at + 1; back < have && n < most; back++) {
		struct span line = *kept(r, back), own = mark_of(line);
		if (n > 0 && mark.len > 0 && own.len == mark.len && memcmp(own.p, mark.p, mark.len) == 0)
			continue;
		if (stack && indented(line))
			continue;
		if (indented(line) || logshape_repeats(&r->shape, line) || ended_traceback(r, line) ||
		    (stack && back > at + 1 + details && !span_has(line, ": ")))
			break;
		if (!wordless(line))
			ret[n++] = line;
	}
	return n;
}

/* The first of the program's own files in the stack that a runtime has written below the error. */
static void place_below(const struct reading *r, size_t at, char dst[static 160])
{
	struct stackplace s = {.frame = ""};
	for (size_t back = at; back-- > 0;)
		stackplace_line(&s, *kept(r, back));
	text_copy(dst, 160, s.frame);
}

void deathlog_last(struct reading *r)
{
	const size_t have = MIN(r->n_latest, (size_t)DEATHLOG_LATEST);
	if (have == 0)
		return;
	const size_t end = first_panic_at(r, have, reason_at(r, have));
	const size_t at = logged_error_at(r, have, json_error_at(r, have, end));
	const struct span cause = cause_below(r, at);
	if (progress_bar(*kept(r, at))) /* nothing else is kept */
		return;
	told_inside(r, *kept(r, at));
	struct log_hint h = deathlog_hint_make(r, "last_line", json_exception(*kept(r, at)), r->rank);
	h.loop = comes_again(r, have, at);
	h.of_error = at > end;
	place_below(r, at, h.frame);
	if (cause.p) {
		span_copy(cause, h.first, sizeof(h.first));
		h.direct = true;
	} else {
		struct span before[BEFORE];
		struct buf b = BUF_ON(h.first);
		buf_reset(&b);
		for (size_t n = lines_before(r, have, at, before); n-- > 0;)
			buf_printf(&b, "%s%.*s", b.len ? " / " : "", (int)MIN(before[n].len, (size_t)150), before[n].p);
	}
	deathlog_hint_add(r->d, &h);
}
