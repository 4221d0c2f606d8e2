#include "tell/incident/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/signame.h"
#include "base/units.h"
#include "model/jobs/job.h"
#include "tell/incident/page_parts.h"
#include "tell/incident/report.h"

/* Of the output so many files are open at first: those of whom the verdict names are the first. */
#define FILES_OPEN 4

/* Colours are of system names where there is one, so that they follow the reader's choice. */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--box:#f6f8fa;"
	"--bad:#b3261e;--warn:#8a5a00;--good:#1a6b34;--blue:#0757b8}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171b;--ink:#e6edf3;--soft:#a0abb7;--line:#39414a;"
	"--box:#1e2329;--bad:#ff8a80;--warn:#f0b849;--good:#6fce8b;--blue:#79b8ff}}\n"
	"body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:62rem;background:var(--bg);"
	"color:var(--ink);overflow-wrap:anywhere}\n"
	"h1{font-size:1.1rem;margin:0;color:var(--soft);font-weight:600}h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
	"h3{font-size:1rem;margin:1.2rem 0 .3rem}\n"
	".verdict{font-size:1.35rem;line-height:1.35;font-weight:600;margin:.6rem 0}\n"
	".top{border-left:.4rem solid var(--soft);padding:.2rem 0 .2rem 1rem;margin-top:.6rem}\n"
	".top.bad{border-color:var(--bad)}.top.warn{border-color:var(--warn)}.top.good{border-color:var(--good)}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--soft)}"
	"dd{margin:0}\n"
	"table{border-collapse:collapse;font-size:.9rem;width:100%}caption{text-align:left;color:var(--soft)}\n"
	"th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;"
	"overflow-wrap:normal}\n"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.t{overflow-wrap:anywhere;"
	"min-width:14rem}\n"
	".wide{overflow-x:auto}pre{white-space:pre-wrap;background:var(--box);border:1px solid var(--line);"
	"padding:.6rem;font:.82rem/1.45 ui-monospace,monospace;max-height:40rem;overflow:auto}\n"
	"figure{margin:0}figcaption{font-size:.9rem;color:var(--soft)}\n"
	"svg{display:block;width:100%;height:15rem;border:1px solid var(--line);background:var(--box)}\n"
	"svg *{vector-effect:non-scaling-stroke}.area{fill:var(--blue);opacity:.18}\n"
	".used{fill:none;stroke:var(--blue);stroke-width:2}.own{fill:none;stroke:var(--ink);stroke-width:1}\n"
	".limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:8 5}"
	".mark{stroke:var(--warn);stroke-width:2;stroke-dasharray:2 4}\n"
	"summary{cursor:pointer;padding:.3rem 0}\n"
	":focus-visible{outline:3px solid var(--blue);outline-offset:2px}\n"
	"@media(max-width:34rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}}\n"
	"@media print{pre{max-height:none}}\n"
	"</style>\n";

static void pair_put(const char *name, const char *text, FILE *to)
{
	if (!text || !*text)
		return;
	page_element("dt", name, to);
	page_element("dd", text, to);
}

static const char *number(const struct js *o, const char *key, char dst[static 24])
{
	dst[0] = '\0';
	if (js_get(o, key))
		(void)text_format(dst, 24, "%lld", (long long)js_get_i64(o, key, 0));
	return dst;
}

/* ---- the top: verdict, health, culprits, what to do ---- */

static void culprits_put(const struct js *lead, FILE *to)
{
	const struct js *ranks = js_get(lead, "culprit_ranks");
	char text[600];
	struct buf b = BUF_ON(text);
	for (size_t i = 0; i < js_len(ranks); i++)
		buf_printf(&b, "%s%lld", i ? ", " : "", (long long)js_as_i64(js_at(ranks, i), -1));
	if (b.len)
		pair_put(js_len(ranks) == 1 ? "Culprit rank" : "Culprit ranks", text, to);
}

static void advice_put(const struct js *lead, FILE *to)
{
	const struct js *advice = js_get(js_get(lead, "cause"), "advice");
	if (js_len(advice) == 0)
		return;
	fputs("<h2>What to do</h2>\n<ol>", to);
	for (size_t i = 0; i < js_len(advice); i++)
		page_element("li", js_as_text(js_at(advice, i), ""), to);
	fputs("</ol>\n", to);
}

static void verdict_put(const struct js *report, FILE *to)
{
	static const char *const tones[] = {"bad", "warn", "good"};
	const struct js *verdict = js_get(report, "verdict"), *lead = js_get(verdict, "incident");
	const struct js *after = js_get(verdict, "after");
	const char *given = js_get_text(verdict, "tone", ""), *tone = "";
	for (size_t i = 0; i < ARRAY_SIZE(tones); i++)
		tone = strcmp(given, tones[i]) == 0 ? tones[i] : tone;
	fprintf(to, "<section class=\"top %s\" aria-label=\"Verdict\">\n", tone);
	page_element("p class=\"verdict\"", js_get_text(verdict, "text", "Nothing is known."), to);
	for (size_t i = 0; i < js_len(after); i++)
		page_element("p", js_as_text(js_at(after, i), ""), to);
	fputs("<dl>", to);
	pair_put("Health", js_get_text(verdict, "health", ""), to);
	culprits_put(lead, to);
	pair_put("Why", js_get_text(js_get(lead, "cause"), "text", ""), to);
	pair_put("Confidence", js_get_text(js_get(lead, "cause"), "confidence", ""), to);
	fputs("</dl></section>\n", to);
	advice_put(lead, to);
}

/* ---- the job, its processes and attempts ---- */

static void job_put(const struct js *report, FILE *to)
{
	const struct js *job = js_get(report, "job");
	char a[24], size[16];
	fputs("<section aria-labelledby=\"job\"><h2 id=\"job\">The job</h2><dl>\n", to);
	pair_put("Name", js_get_text(job, "name", ""), to);
	pair_put("State", js_get_text(job, "state", ""), to);
	pair_put("Command", js_get_text(job, "command", ""), to);
	pair_put("In", js_get_text(job, "cwd", ""), to);
	pair_put("Machine", js_get_text(job, "node", ""), to);
	pair_put("User", js_get_text(job, "user", ""), to);
	pair_put("Started", page_time(job, "started_unix_ms", a), to);
	pair_put("Ended", page_time(job, "ended_unix_ms", a), to);
	pair_put("Exit status", number(job, "exit_status", a), to);
	pair_put("Progress", js_get_text(report, "progress", ""), to);
	pair_put("Most memory", page_size(job, "peak_bytes", size), to);
	pair_put("Memory limit", page_size(job, "limit_bytes", size), to);
	pair_put("Deaths for memory", number(job, "memory_kills", a), to);
	pair_put("Other deaths", number(job, "other_deaths", a), to);
	fputs("</dl></section>\n", to);
}

/* How it ended, in words. */
static void process_end(const struct js *p, char *dst, size_t cap)
{
	int64_t sig = js_get_i64(p, "signal", 0);
	const char *words = process_ended_words(js_get_text(p, "ended_for", ""));
	const char *name = sig > 0 && sig < 128 ? signame((int)sig) : NULL;
	if (js_get_bool(p, "running", false))
		(void)text_format(dst, cap, "runs");
	else if (name && words)
		(void)text_format(dst, cap, "%s (%s)", words, name);
	else if (name)
		(void)text_format(dst, cap, "ended by %s", name);
	else if (js_get(p, "signal"))
		(void)text_format(dst, cap, "ended by signal %lld", (long long)sig);
	else if (js_get(p, "exit_code"))
		(void)text_format(dst, cap, "exit status %lld", (long long)js_get_i64(p, "exit_code", 0));
	else
		(void)text_format(dst, cap, "gone, its status is not known");
}

/* Ranks have the job's own command as a rule: it is not told hundreds of times. */
static void process_put(const struct js *p, const char *job_command, FILE *to)
{
	char text[160], size[16];
	struct buf b = BUF_ON(text);
	const char *command = js_get_text(p, "command", "");
	bool same = *command && strcmp(command, job_command) == 0;
	fputs("<tr>", to);
	page_number_cell(number(p, "attempt", text), to);
	page_number_cell(number(p, "rank", text), to);
	page_cell(js_get_text(p, "role", ""), to);
	page_number_cell(number(p, "pid", text), to);
	page_number_cell(page_size(p, "own_bytes", size), to);
	page_number_cell(page_size(p, "shared_bytes", size), to);
	page_number_cell(page_size(p, "rss_bytes", size), to);
	page_number_cell(page_size(p, "peak_own_bytes", size), to);
	process_end(p, text, sizeof(text));
	b.len = strlen(text);
	if (js_get_bool(p, "named", false))
		buf_add(&b, "; the verdict names it");
	page_cell(text, to);
	page_element("td class=\"t\"",
		     same	? "the job's"
		     : *command ? command
				: js_get_text(p, "name", "–"),
		     to);
	fputs("</tr>\n", to);
}

static void processes_put(const struct js *report, FILE *to)
{
	const struct js *list = js_get(report, "processes");
	int64_t left_out = js_get_i64(report, "processes_left_out", 0);
	static const char *const names[] = {">Attempt",  ">Rank",     "Role",	       ">PID",	  ">Own", ">Shared",
					    ">Resident", ">Own peak", "How it ended", "Command", NULL};
	fputs("<section aria-labelledby=\"ranks\"><h2 id=\"ranks\">Ranks and processes</h2>\n", to);
	if (left_out > 0)
		fprintf(to,
			"<p>%zu of %lld: those that the verdict names, those that ended badly, then ranks by number; "
			"the others are left out.</p>\n",
			js_len(list), (long long)left_out + (long long)js_len(list));
	if (js_len(list) == 0)
		fputs("<p>None are known.</p>\n", to);
	else
		page_table("Memory as it was last looked at; the peak is of memory of its own.", names, to);
	for (size_t i = 0; i < js_len(list); i++)
		process_put(js_at(list, i), js_get_text(js_get(report, "job"), "command", ""), to);
	if (js_len(list) > 0)
		page_table_end(to);
	fputs("</section>\n", to);
}

/* "" while it runs. */
static char *attempt_ran(const struct js *one, char dst[static 24])
{
	const int64_t began = js_get_i64(one, "began_unix_ms", 0), ended = js_get_i64(one, "ended_unix_ms", 0);
	dst[0] = '\0';
	return ended > began ? duration_format((uint64_t)(ended - began) * NS_PER_MS, dst) : dst;
}

static void attempts_put(const struct js *list, FILE *to)
{
	static const char *const names[] = {">Attempt", "Began", "Ended", "Ran for", "Its last event", NULL};
	char a[24];
	if (js_len(list) == 0)
		return;
	fputs("<section aria-labelledby=\"attempts\"><h2 id=\"attempts\">Attempts</h2>\n", to);
	page_table("Each start of the job, counted from 0.", names, to);
	for (size_t i = 0; i < js_len(list); i++) {
		const struct js *one = js_at(list, i);
		fputs("<tr>", to);
		page_number_cell(number(one, "attempt", a), to);
		page_cell(page_time(one, "began_unix_ms", a), to);
		page_cell(page_time(one, "ended_unix_ms", a), to);
		page_cell(attempt_ran(one, a), to);
		page_element("td class=\"t\"", js_get_text(one, "last", "–"), to);
		fputs("</tr>\n", to);
	}
	page_table_end(to);
	fputs("</section>\n", to);
}

/* ---- events, incidents, output ---- */

static void events_put(const struct js *report, FILE *to)
{
	static const char *const names[] = {"Time", ">Attempt", "Severity", "Type", "What", NULL};
	const struct js *list = js_get(report, "events");
	char a[24];
	fputs("<section aria-labelledby=\"events\"><h2 id=\"events\">Events</h2>\n", to);
	int64_t left_out = js_get_i64(report, "events_left_out", 0);
	if (left_out > 0)
		fprintf(to, "<p>The newest %zu; %lld older ones are left out.</p>\n", js_len(list),
			(long long)left_out);
	if (js_len(list) == 0)
		fputs("<p>None were kept.</p>\n", to);
	else
		page_table("Oldest first.", names, to);
	for (size_t i = 0; i < js_len(list); i++) {
		const struct js *e = js_at(list, i);
		fputs("<tr>", to);
		page_cell(page_time(e, "time_unix_ms", a), to);
		page_number_cell(number(e, "attempt", a), to);
		page_cell(js_get_text(e, "severity", ""), to);
		page_cell(js_get_text(e, "kind", ""), to);
		page_element("td class=\"t\"", js_get_text(e, "text", "–"), to);
		fputs("</tr>\n", to);
	}
	if (js_len(list) > 0)
		page_table_end(to);
	fputs("</section>\n", to);
}

/* The words of `vigil why`: evidence, tables and stacks included. */
static int words_put(const struct js *j, FILE *to)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	struct incident *i = calloc(1, sizeof(*i));
	FILE *words = open_memstream(&text, &len);
	int r = words && i ? report_from_json(j, i) : -ENOMEM;
	if (r == 0) {
		report_text(i, REPORT_PLAIN, words);
		report_hang_text(js_get(j, "hang"), REPORT_PLAIN, words);
		report_heap_text(js_get(j, "heap"), REPORT_PLAIN, words);
		report_stacks_text(j, REPORT_PLAIN, words);
	}
	free(i);
	if (words && fclose(words) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0)
		page_element("pre tabindex=\"0\"", text, to);
	else if (r != -ENOMEM)
		fputs("<p>This report cannot be read back.</p>\n", to);
	return r == -ENOMEM ? r : 0;
}

static int incident_put(const struct js *j, bool open, FILE *to)
{
	char when[24];
	fputs("<article><h3>", to);
	page_text(js_get_text(j, "kind", "incident"), to);
	fputs(", ", to);
	page_text(page_time(j, "time_unix_ms", when), to);
	fputs("</h3>\n", to);
	page_element("p", js_get_text(j, "summary", ""), to);
	fprintf(to, "<details%s><summary>Why, what to do, evidence and stacks</summary>\n", open ? " open" : "");
	int r = words_put(j, to);
	fputs("</details></article>\n", to);
	return r;
}

static int incidents_put(const struct js *report, FILE *to)
{
	const struct js *list = js_get(report, "incidents");
	const char *lead = js_get_text(js_get(js_get(report, "verdict"), "incident"), "id", "");
	int r = 0;
	fputs("<section aria-labelledby=\"incidents\"><h2 id=\"incidents\">Incidents</h2>\n", to);
	if (js_len(list) == 0)
		fputs("<p>There was none.</p>\n", to);
	for (size_t i = 0; r == 0 && i < js_len(list); i++) {
		const struct js *j = js_at(list, i);
		r = incident_put(j, *lead && strcmp(js_get_text(j, "id", ""), lead) == 0, to);
	}
	fputs("</section>\n", to);
	return r;
}

static void output_file_put(const struct js *one, bool open, FILE *to)
{
	const struct js *lines = js_get(one, "lines");
	char size[16];
	fprintf(to, "<details%s><summary>Rank %lld, attempt %lld, ", open ? " open" : "",
		(long long)js_get_i64(one, "rank", 0), (long long)js_get_i64(one, "attempt", 0));
	page_text(js_get_text(one, "stream", ""), to);
	if (*page_size(one, "earlier_bytes", size))
		fprintf(to, "; %s before it are left out", size);
	fputs("</summary><pre tabindex=\"0\">", to);
	for (size_t k = 0; k < js_len(lines); k++) {
		page_text(js_as_text(js_at(lines, k), ""), to);
		fputc('\n', to);
	}
	fputs("</pre></details>\n", to);
}

static void output_put(const struct js *report, FILE *to)
{
	const struct js *list = js_get(report, "output");
	int64_t left_out = js_get_i64(report, "output_left_out", 0);
	int64_t attempt = js_get_i64(js_at(list, 0), "attempt", 0);
	fputs("<section aria-labelledby=\"output\"><h2 id=\"output\">Last lines of its output</h2>\n", to);
	if (js_len(list) == 0)
		fputs("<p>No output is kept.</p>\n", to);
	if (attempt > 0)
		fprintf(to, "<p>Of attempt %lld; that of earlier attempts is left out.</p>\n", (long long)attempt);
	if (left_out > 0)
		fprintf(to,
			"<p>Of %zu files, those of the ranks that the verdict names first; %lld more are left "
			"out.</p>\n",
			js_len(list), (long long)left_out);
	for (size_t i = 0; i < js_len(list); i++)
		output_file_put(js_at(list, i), i < FILES_OPEN, to);
	fputs("</section>\n", to);
}

int page_html(const struct js *report, FILE *to)
{
	const char *id = js_get_text(js_get(report, "job"), "id", "");
	char made[24];
	fputs(head, to);
	fputs("<title>vigil: job ", to);
	page_text(id, to);
	fputs("</title></head><body>\n<header><h1>Job ", to);
	page_text(id, to);
	fputs("</h1></header>\n<main>\n", to);
	verdict_put(report, to);
	page_picture(report, to);
	job_put(report, to);
	processes_put(report, to);
	attempts_put(js_get(report, "attempts"), to);
	events_put(report, to);
	int r = incidents_put(report, to);
	output_put(report, to);
	fputs("</main>\n<footer><p>Written by vigil, ", to);
	page_text(page_time(report, "made_unix_ms", made), to);
	fputs(". Times are of the machine's own zone.</p></footer></body></html>\n", to);
	return r ? r : ferror(to) ? -EIO : 0;
}
