/* Advice for a Python exception: where it was raised, and the few things that are certain of the common ones. */
#include <string.h>

#include "judge/death/postmortem_parts.h"

/* "in step at /srv/train.py:40" taken apart; false: it is something else. */
static bool frame_parts(const char *frame, char function[static 80], const char **ret_place)
{
	static const char at[] = " at ";
	const char *end = strstr(frame, at);
	for (const char *next = end; next; next = strstr(next + 1, at)) /* the function's name has none */
		if (strchr(next, ':'))
			end = next;
	if (!end || strncmp(frame, "in ", 3) != 0)
		return false;
	span_copy((struct span){frame + 3, (size_t)(end - frame) - 3}, function, 80);
	*ret_place = end + strlen(at);
	return true;
}

static void place_advise(struct pm *p, const struct log_hint *h)
{
	char function[80], own_function[80];
	const char *place, *own_place;
	if (!frame_parts(h->frame, function, &place))
		return;
	/* The program's own Cython code looks like that of a package. */
	const char *within = strstr(place, ".pyx:") || strstr(place, ".pxi:") ? "in compiled code" : "within a library";
	const char *worker = h->of_worker ? ", in a worker" : "";
	if (h->of_library && frame_parts(h->own_frame, own_function, &own_place))
		incident_advice_add(p->i,
				    "Look at %s, in %s%s: the last line of your own program in the traceback. The "
				    "exception was raised below that, %s, at %s, in %s.",
				    own_place, own_function, worker, within, place, function);
	else if (h->of_library)
		incident_advice_add(p->i,
				    "It was raised %s, at %s, in %s: look for the last line of your own "
				    "program above that in the traceback.",
				    within, place, function);
	else
		incident_advice_add(p->i, "Look at %s, in %s: the exception was raised there%s.", place, function,
				    worker);
}

/* The parent's exception only says that something was wrong with its child. */
static void child_s_place_advise(struct pm *p)
{
	const struct log_hint *h = p->before;
	char function[80];
	const char *place;
	const bool own = h && h->of_library && h->own_frame[0];
	if (h && frame_parts(own ? h->own_frame : h->frame, function, &place))
		incident_advice_add(p->i, "Look first at %s, in %s: there the child's exception was raised%s.", place,
				    function, own ? ", or below" : "");
}

/* What stands between the first quotes: 'data/x.npy'. */
static struct span quoted(const char *text)
{
	const struct span rest = span_after(span_of(text), "'");
	return rest.p && span_has(rest, "'") ? span_before(rest, "'") : (struct span){0};
}

/* A name that Python's import takes, and so one that needs no quotes in a shell. */
static bool is_module(struct span name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	return name.len > 0 && name.len < 100 && strspn(name.p, letters) >= name.len;
}

/* The Python that ran the program, if its command begins with one; else what a reader would type. */
static void job_s_python(const struct death *d, char dst[static 160])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+";
	const struct span first = span_before(span_of(d->command), " ");
	const char *slash = span_rfind(first, "/");
	const size_t base = slash ? (size_t)(slash + 1 - first.p) : 0;
	const struct span name = {first.p + base, first.len - base};
	if (span_starts(name, "python") && first.len < 160 && strspn(first.p, letters) >= first.len)
		span_copy(first, dst, 160);
	else
		text_copy(dst, 160, "python3");
}

static void module_advise(struct pm *p, const struct log_hint *h)
{
	const struct span name = quoted(h->text);
	char python[160];
	if (!is_module(name))
		return;
	job_s_python(p->d, python);
	incident_advice_add(p->i,
			    "See whether the Python of the job has it: %s -c 'import %.*s'. If not, install it there; "
			    "a module of your own has to be beside the script or in PYTHONPATH.",
			    python, (int)name.len, name.p);
}

static void file_advise(struct pm *p, const struct log_hint *h)
{
	const struct span path = quoted(h->text);
	if (path.len == 0)
		return;
	if (path.p[0] == '/')
		incident_advice_add(p->i,
				    "Look whether it is there%s%s, as the job sees it: another node or a container may "
				    "not have it mounted.",
				    p->d->node[0] ? " on " : "", p->d->node);
	else
		incident_advice_add(p->i, "The path is relative: it is looked for below the program's working folder. "
					  "vigil show JOB names the one that the job was started in.");
}

static void rights_advise(struct pm *p, const struct log_hint *h)
{
	if (quoted(h->text).len > 0)
		incident_advice_add(p->i, "Look who may use it (ls -ld), and as whom the job ran: vigil show JOB.");
}

static void guard_advise(struct pm *p, const struct log_hint *h)
{
	(void)h;
	incident_advice_add(p->i,
			    "Put what the script runs below `if __name__ == \"__main__\":`. A process that is started "
			    "by spawn or forkserver (a DataLoader's workers too) imports the script anew.");
}

static void breakpoint_advise(struct pm *p, const struct log_hint *h)
{
	(void)h;
	incident_advice_add(p->i,
			    "A breakpoint was left in the program (breakpoint(), pdb.set_trace()), and its debugger "
			    "was left, or found no terminal to read from: take it out. "
			    "PYTHONBREAKPOINT=0 makes breakpoint() do nothing.");
}

/*
 * What readers of files say of one that is cut off, empty or of another kind. PyTorch's words for it advise to read it
 * with weights_only=False, which runs what stands in it.
 */
static void broken_file_advise(struct pm *p, const struct log_hint *h)
{
	static const char *const words[] = {
		"failed finding central directory", /* PyTorch */
		"Weights only load failed",
		"File is not a zip file", /* numpy's npz */
		"truncated file: eof", /* HDF5 */
		"file signature not found",
		"magic bytes not found", /* Parquet */
		"file not fully covered", /* safetensors */
		"HeaderTooLarge",
		"Compressed file ended before the end-of-stream",
		"Not a gzipped file",
		"file seems not fully written", /* numpy's npy */
		"pickle data was truncated",
		"invalid load key",
		"EOFError: Ran out of input",
		"unexpected end of data", /* tar */
	};
	const bool empty = strcmp(h->text, "EOFError") == 0 && strstr(h->frame, "unpickler");
	if (!empty && !pm_has_any(h->text, words, ARRAY_SIZE(words)))
		return;
	incident_advice_add(p->i,
			    "Look whether the file that it read is whole (ls -l: size and time; head -c 16: what it "
			    "is): a writer that was ended, a full disk or a download leave one that is not. A file "
			    "that is written under another name, and renamed when it is complete, is never read half.");
	if (strstr(h->text, "Weights only load failed"))
		incident_advice_add(p->i, "Leave weights_only as it is until then: a file that is no checkpoint fails "
					  "alike, and False would run what stands in it.");
}

static void logs_advise(struct pm *p, const char *what)
{
	char rank[32] = "";
	if (p->d->rank != NO_RANK)
		TEXT_FORMAT(rank, " --rank %d", p->d->rank);
	incident_advice_add(p->i, "%s: vigil logs JOB%s --tail 50", what, rank);
}

void pm_advise_exception(struct pm *p)
{
	static const struct {
		const char *begin;
		void (*advise)(struct pm *p, const struct log_hint *h);
	} known[] = {
		{"ModuleNotFoundError: No module named ", module_advise},
		{"FileNotFoundError: [Errno 2]", file_advise},
		{"PermissionError: [Errno 13]", rights_advise},
		{"bdb.BdbQuit", breakpoint_advise},
		{"RuntimeError: An attempt has been made to start a new process", guard_advise},
	};
	const struct log_hint *h = p->said;
	if (!h || p->i->kind != INCIDENT_ERROR_EXIT || p->i->cause.n_advice > 2)
		return;
	for (size_t k = 0; k < ARRAY_SIZE(known); k++)
		if (strncmp(h->text, known[k].begin, strlen(known[k].begin)) == 0)
			known[k].advise(p, h);
	broken_file_advise(p, h);
	child_s_place_advise(p);
	place_advise(p, h);
	logs_advise(p, "The whole traceback");
}

void pm_advise_logs(struct pm *p)
{
	const struct log_hint *last = pm_last_line(p->d);
	char function[80];
	const char *place;
	if (p->i->kind != INCIDENT_ERROR_EXIT || p->i->cause.n_advice > 0 || p->said || !last)
		return;
	if (frame_parts(last->frame, function, &place))
		incident_advice_add(p->i, "Look at %s, in %s: the first place in the program's own files in the stack.",
				    place, function);
	logs_advise(p, "What it printed before");
}
