#include "agent/map/maptable.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/foreign_path.h"
#include "base/text.h"
#include "base/utf8.h"

#define OUTPUT_MAX (1 * GIB)

static bool maptable_to_stdout(const struct map_spec *spec)
{
	return spec->results_as != MAP_FOLDERS && strncmp(spec->results, "-.", 2) == 0;
}

int maptable_open(struct maptable *t, const struct map_spec *spec, struct fault *f)
{
	struct stat st;
	bool add = spec->resume || spec->resume_failed;
	*t = (struct maptable){.fd = -1, .as = spec->results ? spec->results_as : MAP_FOLDERS};
	t->has_head = t->as == MAP_JSON;
	if (t->as == MAP_FOLDERS || maptable_to_stdout(spec) || spec->dry_run)
		return 0;
	int r = foreign_path_open(spec->results, O_WRONLY | O_CREAT | O_APPEND | (add ? 0 : O_TRUNC), 0666, &t->fd);
	if (r)
		return fault_set(f, r < 0 ? r : -EINVAL, "--results: cannot write %s: %s", spec->results,
				 r < 0 ? strerror(-r) : "it is no file, and lies in a folder of another user");
	t->has_head |= add && fstat(t->fd, &st) == 0 && st.st_size > 0;
	return 0;
}

void maptable_close(struct maptable *t)
{
	closep(&t->fd);
}

/* ---- fields ---- */

static bool needs_quotes(struct span s, char separator)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == separator || s.p[i] == '"' || s.p[i] == '\0' || (s.p[i] && strchr(" \t\n\r\f\v", s.p[i])))
			return true;
	return false;
}

static void csv_field(FILE *to, struct span s, char separator)
{
	if (!needs_quotes(s, separator)) {
		(void)fwrite(s.p, 1, s.len, to);
		return;
	}
	(void)fputc('"', to);
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '"')
			(void)fputc('"', to);
		(void)fputc(s.p[i], to);
	}
	(void)fputc('"', to);
}

static void json_text(FILE *to, struct span s)
{
	(void)fputc('"', to);
	for (size_t i = 0; i < s.len;) {
		uint32_t code;
		size_t n = utf8_char(s.p + i, s.len - i, &code);
		if (n == 0)
			(void)fputs("\xef\xbf\xbd", to);
		else if (code == '"' || code == '\\')
			(void)fprintf(to, "\\%c", (char)code);
		else if (code < 0x20)
			(void)fprintf(to, "\\u%04x", (unsigned)code);
		else
			(void)fwrite(s.p + i, 1, n, to);
		i += MAX(n, 1U);
	}
	(void)fputc('"', to);
}

/* ---- rows ---- */

static void csv_row(FILE *to, char separator, const struct joblog_row *row, const struct map_args *args,
		    const struct span written[2])
{
	(void)fprintf(to, "%" PRIu64 "%c:%c%" PRId64 ".%03d%c%" PRIu64 ".%03d%c%" PRIu64 "%c%" PRIu64 "%c%d%c%d%c",
		      row->seq, separator, separator, row->start_unix_ms / 1000, (int)(row->start_unix_ms % 1000),
		      separator, row->run_ms / 1000, (int)(row->run_ms % 1000), separator, row->send_bytes, separator,
		      row->receive_bytes, separator, row->exit_value, separator, row->signal, separator);
	csv_field(to, row->command, separator);
	for (size_t i = 0; i < args->n && !args->piped; i++) {
		(void)fputc(separator, to);
		csv_field(to, span_of(args->arg[i]), separator);
	}
	for (size_t i = 0; i < 2; i++) {
		(void)fputc(separator, to);
		csv_field(to, written[i], separator);
	}
	(void)fputc('\n', to);
}

static void json_row(FILE *to, const struct joblog_row *row, const struct map_args *args, const struct span written[2])
{
	(void)fprintf(to,
		      "{ \"Seq\": %" PRIu64 ", \"Host\": \":\", \"Starttime\": %" PRId64
		      ".%03d, \"JobRuntime\": %" PRIu64 ".%03d, \"Send\": %" PRIu64 ", \"Receive\": %" PRIu64
		      ", \"Exitval\": %d, \"Signal\": %d, \"Command\": ",
		      row->seq, row->start_unix_ms / 1000, (int)(row->start_unix_ms % 1000), row->run_ms / 1000,
		      (int)(row->run_ms % 1000), row->send_bytes, row->receive_bytes, row->exit_value, row->signal);
	json_text(to, row->command);
	(void)fputs(", \"V\": [ ", to);
	for (size_t i = 0; i < args->n && !args->piped; i++) {
		(void)fputs(i > 0 ? "," : "", to);
		json_text(to, span_of(args->arg[i]));
	}
	(void)fputs(" ], \"Stdout\": ", to);
	json_text(to, written[0]);
	(void)fputs(", \"Stderr\": ", to);
	json_text(to, written[1]);
	(void)fputs(" }\n", to);
}

/* What a task wrote into a file, each line behind the tag. */
static char *written_text(int fd, const char *tag, size_t *ret_len)
{
	struct stat st;
	size_t len = 0, size = 0;
	if (fstat(fd, &st) < 0)
		return NULL;
	size_t want = (size_t)MIN((uint64_t)st.st_size, (uint64_t)OUTPUT_MAX);
	cleanup(freep) char *text = malloc(want + 1);
	if (!text || file_read_from(fd, 0, text, want + 1, &len) < 0)
		return NULL;
	*ret_len = len;
	if (!tag)
		return take(&text);
	char *tagged = NULL;
	FILE *to = open_memstream(&tagged, &size);
	for (size_t at = 0; to && at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end + 1 - text) - at : len - at;
		(void)fprintf(to, "%s\t", tag);
		(void)fwrite(text + at, 1, n, to);
		at += n;
	}
	if (!to || fclose(to) != 0)
		return NULL;
	*ret_len = size;
	return tagged;
}

char *maptable_row(struct maptable *t, const struct joblog_row *row, const struct map_args *args, const char *tag,
		   const int files[2], size_t *ret_len)
{
	size_t len[2] = {0, 0};
	cleanup(freep) char *out = written_text(files[0], tag, &len[0]);
	cleanup(freep) char *err = written_text(files[1], tag, &len[1]);
	char *text = NULL;
	FILE *to = out && err ? open_memstream(&text, ret_len) : NULL;
	if (!to)
		return NULL;
	const struct span written[2] = {{out, len[0]}, {err, len[1]}};
	if (t->n_inputs == 0 && !args->piped)
		t->n_inputs = args->n;
	if (t->as == MAP_JSON)
		json_row(to, row, args, written);
	else
		csv_row(to, t->as == MAP_CSV ? ',' : '\t', row, args, written);
	return fclose(to) == 0 ? text : NULL;
}

char *maptable_head(struct maptable *t, size_t *ret_len)
{
	char *text = NULL, separator = t->as == MAP_CSV ? ',' : '\t';
	static const char *const names[] = {"Seq",     "Host",	  "Starttime", "JobRuntime", "Send",
					    "Receive", "Exitval", "Signal",    "Command"};
	if (t->has_head)
		return NULL;
	FILE *to = open_memstream(&text, ret_len);
	if (!to)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)fprintf(to, "%s%c", names[i], separator);
	for (size_t i = 0; i < t->n_inputs; i++)
		(void)fprintf(to, "V%zu%c", i + 1, separator);
	(void)fprintf(to, "Stdout%cStderr\n", separator);
	t->has_head = true;
	return fclose(to) == 0 ? text : NULL;
}
