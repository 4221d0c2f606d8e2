#include "sense/death/deathlog.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/buf.h"
#include "base/signame.h"
#include "sense/death/deathlog_parts.h"

#define COMMAND_LINES 100 /* of a command in a shell's report; more are read as lines of the log */

struct pattern {
	const char *id;
	const char *all[2]; /* each must be in the line; NULL: none */
	const char *pid_after; /* the text before a pid; NULL: none */
	const char *signal_after;
	const char *size_after;
};

/* The first pattern that matches a line is used, so more specific ones come first. */
static const struct pattern patterns[] = {
	{"dataloader_bus_error", {"DataLoader worker (pid", "Bus error"}, "(pid", "by signal: ", NULL},
	{"dataloader_killed", {"DataLoader worker (pid", "killed by signal: "}, "(pid", "by signal: ", NULL},
	{"dataloader_exited", {"DataLoader worker (pid", "exited unexpectedly"}, "(pid(s)", NULL, NULL},
	{"shm_no_space", {"insufficient shared memory (shm)", NULL}, NULL, NULL, NULL},
	{"shm_no_space", {"unable to write to file </torch_", NULL}, NULL, NULL, NULL},
	{"shm_no_space", {"unable to allocate shared memory(shm)", NULL}, NULL, NULL, NULL},
	{"shm_no_space", {"No space left on device", "/dev/shm"}, NULL, NULL, NULL},
	{"shm_no_space", {"No space left on device", "shared memory"}, NULL, NULL, NULL},
	{"disk_full", {"No space left on device", NULL}, NULL, NULL, NULL},
	{"disk_full", {"Disk quota exceeded", NULL}, NULL, NULL, NULL},
	{"torch_write_failed", {"PytorchStreamWriter failed", NULL}, NULL, NULL, NULL},
	{"torch_write_failed", {"inline_container.cc", "unexpected pos "}, NULL, NULL, NULL},
	{"port_in_use", {"EADDRINUSE", NULL}, NULL, NULL, NULL},
	{"port_in_use", {"ddress already in use", NULL}, NULL, NULL, NULL},
	{"port_in_use", {"Port ", " is in use by another program"}, NULL, NULL, NULL},
	{"file_too_large", {"File too large", NULL}, NULL, NULL, NULL},
	{"file_too_large", {"File size limit exceeded", NULL}, NULL, NULL, NULL},
	{"too_many_files", {"Too many open files", NULL}, NULL, NULL, NULL},
	{"no_room_for_process", {"can't start new thread", NULL}, NULL, NULL, NULL},
	{"no_room_for_process", {"ork: ", "Resource temporarily unavailable"}, NULL, NULL, NULL},
	{"no_room_for_process", {"pthread_create", "Resource temporarily unavailable"}, NULL, NULL, NULL},
	{"no_room_for_process", {"hread creation failed", NULL}, NULL, NULL, NULL},
	{"no_room_for_process", {"BlockingIOError: [Errno 11]", NULL}, NULL, NULL, NULL},
	{"cuda_oom", {"CUDA out of memory", NULL}, NULL, NULL, "Tried to allocate "},
	{"cuda_oom", {"HIP out of memory", NULL}, NULL, NULL, "Tried to allocate "},
	{"cuda_oom", {"NPU out of memory", NULL}, NULL, NULL, "Tried to allocate "},
	{"cuda_oom", {"XPU out of memory", NULL}, NULL, NULL, "Tried to allocate "},
	{"cuda_oom", {"torch.OutOfMemoryError", NULL}, NULL, NULL, "Tried to allocate "},
	{"cuda_oom", {"CUDA error: out of memory", NULL}, NULL, NULL, NULL},
	{"cuda_oom", {"CUBLAS_STATUS_ALLOC_FAILED", NULL}, NULL, NULL, NULL},
	{"cuda_oom", {"OOM when allocating tensor", "device:GPU"}, NULL, NULL, NULL},
	{"cuda_oom", {"RESOURCE_EXHAUSTED: Out of memory", NULL}, NULL, NULL, "allocate "},
	{"numpy_memory_error", {"ArrayMemoryError", NULL}, NULL, NULL, "Unable to allocate "},
	{"numpy_memory_error", {"Unable to allocate ", " for an array with shape"}, NULL, NULL, "Unable to allocate "},
	{"torch_cpu_oom", {"DefaultCPUAllocator: ", "allocate memory"}, NULL, NULL, "you tried to allocate "},
	{"bad_alloc", {"std::bad_alloc", NULL}, NULL, NULL, NULL},
	{"abort_words", {"terminate called after throwing an instance of", NULL}, NULL, NULL, NULL},
	{"abort_words", {": Assertion `", "' failed"}, NULL, NULL, NULL},
	{"abort_words", {"*** stack smashing detected ***", NULL}, NULL, NULL, NULL},
	{"cannot_fork", {"[Errno 12] Cannot allocate memory", NULL}, NULL, NULL, NULL},
	{"device_assert", {": block: [", "Assertion `"}, NULL, NULL, NULL},
	{"mpi_abort", {"application called MPI_Abort(MPI_COMM_WORLD,", NULL}, NULL, NULL, NULL},
	{"mpi_abort", {"MPI_ABORT was invoked on rank ", " in communicator MPI_COMM_WORLD"}, NULL, NULL, NULL},
	{"python_fatal", {"Fatal Python error: ", NULL}, NULL, NULL, NULL},
	{"torchrun_child", {"failed (exitcode: ", "(pid: "}, "(pid: ", NULL, NULL},
	{"torchrun_terminating", {"Sending process ", "closing signal "}, "Sending process ", "closing signal ", NULL},
	{"collective_timeout", {"Watchdog caught collective operation timeout", NULL}, NULL, NULL, NULL},
	{"peer_closed", {"Connection closed by peer", NULL}, NULL, NULL, NULL},
	{"peer_closed", {"Connection closed by remote peer", NULL}, NULL, NULL, NULL},
	{"peer_closed", {"remote process exited or there was a network error", NULL}, NULL, NULL, NULL},
	{"peer_closed", {"ncclRemoteError", NULL}, NULL, NULL, NULL},
	{"peer_closed", {"NCCL WARN", "Connection reset by peer"}, NULL, NULL, NULL},
	{"peer_closed", {"gloo", "Connection reset by peer"}, NULL, NULL, NULL},
	{"store_lost", {"DistNetworkError", NULL}, NULL, NULL, NULL},
	{"store_lost", {"TCPStore", "Broken pipe"}, NULL, NULL, NULL},
	{"store_lost", {"TCPStore", "Connection reset by peer"}, NULL, NULL, NULL},
	{"ray_worker_died", {"Worker exit type: ", NULL}, NULL, NULL, NULL},
	{"ray_worker_died", {"The leased worker has unrecoverable failure", NULL}, NULL, NULL, NULL},
};

/* Lines that shells and C libraries print; the text is the beginning of the line. */
static const struct {
	const char *starts;
	const char *id;
} heads[] = {
	{"Segmentation fault", "segfault"},
	{"Bus error", "bus_error"},
	{"Killed", "killed_word"},
	/* said by the C library, C++ and Rust before abort() */
	{"free(): ", "abort_words"},
	{"malloc(): ", "abort_words"},
	{"realloc(): ", "abort_words"},
	{"munmap_chunk(): ", "abort_words"},
	{"malloc_consolidate(): ", "abort_words"},
	{"double free or corruption", "abort_words"},
	{"corrupted size vs. prev_size", "abort_words"},
	{"corrupted double-linked list", "abort_words"},
	{"*** buffer overflow detected ***", "abort_words"},
	{"Fatal glibc error: ", "abort_words"},
	{"pure virtual method called", "abort_words"},
	{"fatal runtime error: ", "abort_words"},
};

static uint64_t size_at(struct span s)
{
	static const struct {
		const char *name;
		uint64_t unit;
	} units[] = {{"bytes", 1}, {"B", 1}, {"KiB", KIB}, {"MiB", MIB}, {"GiB", GIB}, {"TiB", 1024 * GIB}};
	struct span num, unit = {NULL, 0};
	uint64_t whole, part = 0, of = 1; /* a fraction: part / of */
	if (!span_word(&s, &num) || !span_word(&s, &unit) || span_u64_prefix(num, &whole) < 0)
		return 0;
	struct span frac = span_after(num, ".");
	for (size_t i = 0; frac.p && i < frac.len && i < 3 && char_digit(frac.p[i]); i++) {
		part = part * 10 + (uint64_t)(frac.p[i] - '0');
		of *= 10;
	}
	while (unit.len > 0 && (unit.p[unit.len - 1] == '.' || unit.p[unit.len - 1] == ','))
		unit.len--;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (span_eq(unit, units[i].name) && whole < UINT64_MAX / units[i].unit - 1)
			return whole * units[i].unit + units[i].unit * part / of;
	return 0;
}

static pid_t pid_at(struct span s)
{
	uint64_t v;
	while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == ')' || s.p[0] == ':' || s.p[0] == '[')) {
		s.p++;
		s.len--;
	}
	return span_u64_prefix(s, &v) == 0 && v <= INT32_MAX ? (pid_t)v : 0;
}

/* "Killed. " or "Bus error. It is possible …" or "SIGTERM" */
static int signal_at(struct span s)
{
	s = span_before(span_before(s, "."), ",");
	return signame_parse(s);
}

/* The quotation mark that is still open behind this text, which begins inside of `open`, or outside with 0. */
static char quote_open(struct span text, char open)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		if (c == open)
			open = 0;
		else if (open == 0 && (c == '\'' || c == '"'))
			open = c;
	}
	return open;
}

/* bash repeats the whole command in its report, which may have many lines. */
static bool of_shell_s_command(struct reading *r, struct span line)
{
	if (r->command_quote == 0 || r->command_lines == 0)
		return false;
	r->command_lines--;
	r->command_quote = quote_open(line, r->command_quote);
	return true;
}

/* bash reports for a script: "train.sh: line 3: 20178 Killed                  python3 train.py" */
static bool shell_killed(struct reading *r, struct span line, int32_t rank)
{
	struct span at = span_after(line, ": line "), num, word;
	struct span rest = span_after(at, ": ");
	uint64_t pid;
	if (!rest.p || !span_word(&rest, &num) || span_u64(num, &pid) < 0 || pid == 0 || pid > INT32_MAX ||
	    !span_word(&rest, &word))
		return false;
	bool killed = span_eq(word, "Killed"), segv = span_eq(word, "Segmentation"), bus = span_eq(word, "Bus");
	if (!killed && !segv && !bus)
		return false;
	struct log_hint h = deathlog_hint_make(r, killed ? "killed_word" : segv ? "segfault" : "bus_error", line, rank);
	h.pid = (pid_t)pid;
	deathlog_hint_add(r->d, &h);
	r->command_quote = quote_open(rest, 0);
	r->command_lines = COMMAND_LINES;
	return true;
}

static void gpu_numbers(struct log_hint *h, struct span line)
{
	h->has_gpu = gpuoom_parse(line, &h->gpu) && h->gpu.total.valid;
	h->gpu_messages = h->has_gpu ? 1 : 0;
	h->gpu_first_allocated_bytes = h->has_gpu ? h->gpu.allocated.bytes : 0;
}

/* The number of a port that is in use: "port: 29500", "[::]:29500 (", "('0.0.0.0', 8000)", "listen tcp :8080: bind". */
static uint16_t port_in(struct span line)
{
	static const char *const before[] = {"port: ", "port ", "Port ", "port=", "]:", "', ", ":"};
	for (size_t k = 0; k < ARRAY_SIZE(before); k++) {
		uint64_t v;
		for (struct span at = span_after(line, before[k]); at.p; at = span_after(at, before[k]))
			if (span_u64_prefix(at, &v) == 0 && v > 0 && v <= UINT16_MAX)
				return (uint16_t)v;
	}
	return 0;
}

/* "  what():  CUDA error: …" right below "terminate called after throwing an instance of 'c10::Error'". */
static void what_line(struct reading *r, struct span line)
{
	for (size_t i = 0; i < r->d->n && span_starts(span_trim(line), "what():"); i++) {
		struct log_hint *h = &r->d->hints[i];
		if (strcmp(h->id, "abort_words") != 0 || strcmp(h->source, r->source) != 0 || h->line + 1 != r->line)
			continue;
		char what[sizeof(h->text)];
		struct buf b = {.text = h->text, .len = strlen(h->text), .cap = sizeof(h->text)};
		span_copy(span_trim(line), what, sizeof(what));
		buf_printf(&b, " %s", what);
	}
}

/* "… - process 1", "invoked on rank 1 in": the number in MPI_COMM_WORLD of the process that aborted it. */
static int32_t aborted_rank(struct span line)
{
	struct span at = span_after(line, "- process ");
	uint64_t v;
	if (!at.p)
		at = span_after(line, "invoked on rank ");
	return at.p && span_u64_prefix(at, &v) == 0 && v < 1000000 ? (int32_t)v : NO_RANK;
}

/* True for a line with a known message. */
static bool match_patterns(struct reading *r, struct span line, int32_t rank)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct pattern *p = &patterns[i];
		if (!span_has(line, p->all[0]) || (p->all[1] && !span_has(line, p->all[1])))
			continue;
		struct log_hint h = deathlog_hint_make(r, p->id, line, rank);
		if (p->pid_after)
			h.pid = pid_at(span_after(line, p->pid_after));
		if (p->signal_after)
			h.signal = signal_at(span_after(line, p->signal_after));
		if (p->size_after)
			h.bytes = size_at(span_after(line, p->size_after));
		if (strcmp(p->id, "cuda_oom") == 0)
			gpu_numbers(&h, line);
		struct span code = span_after(line, "(exitcode: ");
		int64_t v;
		if (code.p && span_i64(span_before(code, ")"), &v) == 0 && v > -256 && v < 256) {
			h.has_exit_code = true;
			h.exit_code = (int32_t)v;
			h.signal = v < 0 ? (int)-v : 0;
		}
		struct span local = span_after(line, "local_rank: ");
		uint64_t lr;
		if (local.p && span_u64_prefix(local, &lr) == 0 && lr < 1000000)
			h.rank = (int32_t)lr;
		if (strcmp(p->id, "mpi_abort") == 0)
			h.rank = aborted_rank(line);
		if (strcmp(p->id, "port_in_use") == 0)
			h.port = port_in(line) ? port_in(line) : r->bind_port;
		deathlog_hint_add(r->d, &h);
		return true;
	}
	if (shell_killed(r, line, rank))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		size_t n = strlen(heads[i].starts);
		if (!span_starts(line, heads[i].starts) || (line.len > n && line.p[n] != ' ' && line.p[n] != '('))
			continue;
		struct span rest = span_trim((struct span){line.p + n, line.len - n});
		if (rest.len > 0 && rest.p[0] != '(') /* "Killed 3 tasks" is a sentence of some program */
			continue;
		struct log_hint h = deathlog_hint_make(r, heads[i].id, line, rank);
		deathlog_hint_add(r->d, &h);
		return true;
	}
	return false;
}

/* "[rank3]: text", "[default3]:text": cuts the prefix off and returns the rank; fallback if there is none. */
static int32_t take_rank(struct span *line, int32_t fallback)
{
	static const char *const keys[] = {"[rank", "[default", "[Rank "};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint64_t v;
		if (!span_starts(*line, keys[i]))
			continue;
		struct span num = span_after(*line, keys[i]), rest = span_after(*line, "]:");
		if (!rest.p || span_u64(span_before(num, "]"), &v) < 0 || v > 1000000)
			continue;
		if (rest.len > 0 && rest.p[0] == ' ') {
			rest.p++;
			rest.len--;
		}
		*line = rest;
		return (int32_t)v;
	}
	return fallback;
}

/* The block of torchrun that begins with "Root Cause (first observed failure):" and has "key : value" lines. */
static void torchrun_line(struct reading *r, struct span line)
{
	if (span_starts(line, "Root Cause (first observed failure):")) {
		r->root_cause = true;
		r->torchrun = deathlog_hint_make(r, "torchrun_failure", SPAN(""), NO_RANK);
		return;
	}
	if (!r->root_cause)
		return;
	struct span key = span_trim(span_before(line, ":")), value = span_trim(span_after(line, ":"));
	uint64_t v;
	int64_t code;
	if (span_eq(key, "rank") && span_u64_prefix(value, &v) == 0 && v < 1000000) {
		r->torchrun.rank = (int32_t)v;
	} else if (span_eq(key, "exitcode") && span_i64(span_trim(span_before(value, "(")), &code) == 0 &&
		   code > -256 && code < 256) {
		r->torchrun.has_exit_code = true;
		r->torchrun.exit_code = (int32_t)code;
		r->torchrun.signal = code < 0 ? (int)-code : 0;
		r->torchrun.pid = pid_at(span_after(value, "(pid:"));
	} else if (span_eq(key, "traceback")) {
		span_copy(value, r->torchrun.text, sizeof(r->torchrun.text));
	} else if (span_starts(line, "=====") && r->torchrun.rank != NO_RANK) {
		deathlog_hint_add(r->d, &r->torchrun);
		r->root_cause = false;
	}
}

/* Only Slurm and Ray write into the job's own output. Words of other killers there are quotes and are ignored. */
static void killers_line(struct reading *r, struct span line)
{
	struct killerlog *k = r->d->killers;
	if (!k)
		return;
	size_t before = k->n, dropped = k->dropped;
	killerlog_line(k, span_starts(line, "srun: ") || span_starts(line, "slurmstepd: ") ? SPAN("srun") : SPAN("ray"),
		       line, 0);
	for (size_t i = k->dropped == dropped ? before : k->n; i < k->n; i++)
		TEXT_COPY(k->out[i].source, r->source);
}

static bool next_line(struct span *rest, struct span *ret)
{
	if (rest->len == 0)
		return false;
	size_t n = 0;
	while (n < rest->len && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	*ret = (struct span){rest->p, n};
	size_t used = n < rest->len ? n + 1 : n;
	rest->p += used;
	rest->len -= used;
	return true;
}

static size_t digits_at(struct span line, size_t at)
{
	size_t n = 0;
	while (at + n < line.len && char_digit(line.p[at + n]))
		n++;
	return n;
}

/* A row of the largest processes in a message of Ray's: "28030\t2.13\tray::leak". */
static bool of_rays_list(struct span line)
{
	size_t pid = digits_at(line, 0), whole = digits_at(line, pid + 1), at = pid + 1 + whole;
	return pid > 0 && whole > 0 && at + 4 < line.len && line.p[pid] == '\t' && line.p[at] == '.' &&
	       digits_at(line, at + 1) == 2 && line.p[at + 3] == '\t' && !char_digit(line.p[at + 4]);
}

/*
 * Lines of messages about an end, or of libraries that talk beside the program, are no steps of its loop: stack frames
 * with their addresses, and what glog and NCCL write.
 */
static bool of_an_end(struct span line)
{
	static const char *const starts[] = {"frame #",
					     "#",
					     "[W",
					     "[E",
					     "[F",
					     "[I",
					     "***",
					     "Exception in ",
					     "Exception ignored in",
					     "terminate called",
					     "srun: ",
					     "slurmstepd: "};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	if (line.len > 6 && strchr("IWEF", line.p[0]) && char_digit(line.p[1]) && char_digit(line.p[2]) &&
	    char_digit(line.p[3]) && char_digit(line.p[4]) && line.p[5] == ' ')
		return true;
	return of_rays_list(line) || span_has(line, " 0x") || span_has(line, "(0x") || span_has(line, "NCCL ");
}

/* A line between indented ones: what runtimes write around frames, and Go's functions, with their places below. */
static bool of_a_stack(const struct reading *r, struct span line)
{
	return deathlog_around_frames(line) || (r->tab_below && line.p[line.len - 1] == ')');
}

/* What stands in front of a traceback is a progress bar: of a form that repeats, or "40%|## | 40/100 [00:01<00:02]". */
static bool is_bar(const struct reading *r, struct span text)
{
	const bool by_form = span_has(text, "%|") && text.p[text.len - 1] == ']';
	return by_form || logshape_repeats(&r->shape, text);
}

/* A traceback, also one below a launcher's "[rank0]: ", may begin behind a progress bar, which has no line end. */
static void cut_bar(struct reading *r, struct span *line)
{
	const struct span head = SPAN("Traceback (most recent call last):"), tag = SPAN("[rank");
	if (line->len <= head.len || memcmp(line->p + line->len - head.len, head.p, head.len) != 0)
		return;
	struct span bar = {line->p, line->len - head.len};
	for (size_t n = bar.len; n > tag.len && bar.p[bar.len - 1] == ' '; n--)
		if (memcmp(bar.p + n - tag.len, tag.p, tag.len) == 0) {
			bar.len = n - tag.len;
			break;
		}
	if (bar.len == 0 || !is_bar(r, bar))
		return;
	if (bar.p[0] != ' ')
		logshape_add(&r->shape, bar, r->line);
	*line = (struct span){bar.p + bar.len, line->len - bar.len};
}

static void line_read(struct reading *r, struct span line)
{
	if (of_shell_s_command(r, line))
		return;
	int32_t rank = take_rank(&line, r->rank);
	cut_bar(r, &line);
	rank = take_rank(&line, rank);
	struct span whole = line;
	bool of_traceback = traceback_group(r, &line, rank);
	of_traceback |= traceback_line(r, line, rank);
	bool told = match_patterns(r, line, rank) || of_traceback;
	what_line(r, line);
	torchrun_line(r, line);
	killers_line(r, line);
	if (!told && !r->root_cause && line.len > 0 && line.p[0] != ' ' && line.p[0] != '\t' && !of_an_end(line))
		logshape_add(&r->shape, line, r->line);
	if (span_trim(line).len == 0)
		return;
	const bool indented = line.p[0] == ' ' || line.p[0] == '\t';
	r->n_frames = indented || of_a_stack(r, line) ? r->n_frames + 1 : 0;
	if (r->n_frames <= DEATHLOG_LATEST / 2)
		r->latest[r->n_latest++ % DEATHLOG_LATEST] = whole;
	r->previous = of_traceback || indented ? (struct span){NULL, 0} : line;
}

/* What became of the program after each message is known only when all has been read. */
static void order_set(struct reading *r)
{
	struct deathlog *d = r->d;
	for (size_t i = 0; i < d->n; i++) {
		struct log_hint *h = &d->hints[i];
		if (strcmp(h->source, r->source) != 0 || h->line == 0)
			continue;
		h->to_end = r->line - h->line;
		h->went_on = logshape_went_on(&r->shape, h->line);
		h->after = logshape_after(&r->shape, h->line);
		if (logshape_repeats(&r->shape, span_of(h->before)))
			h->before[0] = '\0';
	}
	traceback_main_first(d, r->source);
}

void deathlog_parse(struct deathlog *d, struct span tail, const char *source, int32_t rank)
{
	struct reading r = {.d = d, .source = source, .rank = rank};
	struct span line;
	const char *begin = tail.p;
	while (next_line(&tail, &line)) {
		if (line.len == 0 || line.len > 16384)
			continue;
		r.line++;
		r.at_bytes = (uint64_t)(line.p - begin);
		r.tab_below = tail.len > 0 && tail.p[0] == '\t';
		line_read(&r, line);
	}
	if (r.root_cause && r.torchrun.rank != NO_RANK)
		deathlog_hint_add(d, &r.torchrun);
	deathlog_last(&r);
	order_set(&r);
}

bool deathlog_steps_between(struct span tail, uint64_t from_bytes, uint64_t to_bytes)
{
	struct logshape shape = {.n = 0};
	struct span line;
	uint32_t number = 0, place = 1; /* lines have even numbers, the place between two an odd one */
	tail.len = MIN(tail.len, (size_t)MIN(to_bytes, (uint64_t)SIZE_MAX));
	for (const char *begin = tail.p; next_line(&tail, &line);) {
		number += 2;
		if ((uint64_t)(line.p - begin) < from_bytes)
			place = number + 1;
		if (line.len > 0 && line.len < 16384 && line.p[0] != ' ' && line.p[0] != '\t' && !of_an_end(line))
			logshape_add(&shape, line, number);
	}
	return logshape_went_on(&shape, place);
}

uint32_t deathlog_handled_until(struct span tail)
{
	struct logshape shape = {.n = 0};
	struct span line;
	uint32_t number = 0;
	while (span_line(&tail, &line)) {
		number++;
		if (line.len > 0 && line.len < 16384 && line.p[0] != ' ' && line.p[0] != '\t' && !of_an_end(line))
			logshape_add(&shape, line, number);
	}
	return logshape_went_on_until(&shape);
}

int deathlog_tail(int dirfd, const char *path, char *buf, size_t cap, struct span *ret_tail)
{
	/* O_NONBLOCK: opening a fifo in place of the log must not block. */
	cleanup(closep) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	size_t want = MIN(cap, (size_t)DEATHLOG_TAIL), len = 0;
	uint64_t from = sub_floor((uint64_t)st.st_size, want);
	int r = file_read_from(fd, from, buf, want, &len);
	if (r < 0)
		return r;
	*ret_tail = (struct span){buf, len};
	return 0;
}
