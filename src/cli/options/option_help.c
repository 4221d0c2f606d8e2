#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/options/option.h"
#include "tell/text/textout.h"

/* Options without a help text are for the build and are not shown. */
static const struct option *next_shown(const struct option *o)
{
	while (o && o->name && !o->help)
		o++;
	return o && o->name ? o : NULL;
}

static bool is_foldable(const struct option *o)
{
	return option_name(o) != o->name;
}

/* "-n, --nproc N" */
static void spell(const struct option *o, struct buf *b)
{
	buf_reset(b);
	if (o->letter)
		buf_printf(b, "-%c, ", o->letter);
	buf_printf(b, "--%s%s", is_foldable(o) ? "[no-]" : "", option_name(o));
	if (o->type == OPTION_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			buf_printf(b, "%s%s", i ? "|" : " ", o->choices[i]);
	else if (o->arg)
		buf_printf(b, " %s", o->arg);
}

/* False: the default is not shown, because the flag is off, the text empty or the number 0. */
static bool default_of(const struct command *c, const struct option *o, char *dst, size_t cap)
{
	if (!c->defaults)
		return false;
	option_format(o, c->defaults, dst, cap);
	if (o->type == OPTION_FLAG)
		return strcmp(dst, "yes") == 0;
	if (o->type == OPTION_CHOICE)
		return dst[0] != '\0';
	return dst[0] != '\0' && strcmp(dst, "0") != 0 && strcmp(dst, "0us") != 0;
}

/* Wraps the text to the width; its own line breaks stay. */
static void print_paragraphs(const struct textout *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		textout_text(p, 0, "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

/* Prints each line of the text as it is, indented. */
static void print_block(const char *text, const char *indent, FILE *to)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		fprintf(to, "%s%.*s\n", n ? indent : "", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static const char *exit_statuses(const struct command *c)
{
	if (c->statuses)
		return c->statuses;
	if (c->usage_status == 125)
		return "The job's own status; 128+N if it died of signal N; 137 if it was ended for memory and no "
		       "retry was left; 124 if it was ended as hung; 125 if vigil itself failed or was called wrongly; "
		       "126 if the command cannot be executed; 127 if it was not found.";
	return "0 fine; 1 a problem was found; 2 called wrongly; 3 not permitted; 4 no such job, process or file; 5 an "
	       "engine is unreachable.";
}

void option_help(const struct command *c, FILE *to)
{
	const struct textout p = {.to = to, .width = textout_width(to)};
	const size_t usage_column = 7; /* behind "Usage: " */
	if (p.width) {
		textout_text(&p, 0, "vigil %s: %s", c->name, c->summary);
		fputs("\nUsage: ", to);
		textout_text(&p, usage_column, "%s", c->usage);
	} else {
		fprintf(to, "vigil %s: %s\n\nUsage: %s\n", c->name, c->summary, c->usage);
	}
	if (c->examples) {
		fputs("\nExamples:\n", to);
		print_block(c->examples, "  ", to);
	}
	fputs("\nOptions:\n", to);
	enum { HELP_COLUMN = 30 };
	for (const struct option *o = next_shown(c->options); o; o = next_shown(o + 1)) {
		char text[256], value[128];
		struct buf b = BUF_ON(text);
		spell(o, &b);
		size_t used = textout_columns(text, b.len) + 2;
		fprintf(to, "  %s", text);
		if (used + 2 > HELP_COLUMN) {
			fputc('\n', to);
			used = 0;
		}
		textout_blank(&p, HELP_COLUMN - used);
		bool has_default = default_of(c, o, value, sizeof(value));
		textout_text(&p, HELP_COLUMN, "%s%s%s%s", o->help, has_default ? " (default: " : "",
			     has_default ? value : "", has_default ? ")" : "");
	}
	fprintf(to, "  -h, --help                  show this text\n");
	if (c->about) {
		fputc('\n', to);
		print_paragraphs(&p, c->about);
	}
	fputc('\n', to);
	textout_text(&p, 0,
		     "Every option can also be set in the environment: --some-option is VIGIL_SOME_OPTION (--state: "
		     "VIGIL_STATE_DIR).");
	fputc('\n', to);
	textout_text(&p, 0, "Exit status: %s", exit_statuses(c));
}

/* Escapes text for roff: '-' and '\\', and '.' and '\'' at the beginning of a line. */
static void roff(const char *text, size_t len, FILE *to)
{
	for (size_t i = 0; i < len; i++) {
		if ((i == 0 || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", to);
		if (text[i] == '-')
			fputs("\\-", to);
		else if (text[i] == '\\')
			fputs("\\e", to);
		else
			fputc(text[i], to);
	}
}

static void roff_text(const char *text, FILE *to)
{
	roff(text, strlen(text), to);
}

static void man_options(const struct command *c, FILE *to)
{
	fputs(".SH OPTIONS\n", to);
	for (const struct option *o = next_shown(c->options); o; o = next_shown(o + 1)) {
		char text[256], value[128], variable[64];
		struct buf b = BUF_ON(text);
		spell(o, &b);
		fputs(".TP\n.B ", to);
		roff_text(text, to);
		fputc('\n', to);
		roff_text(o->help, to);
		if (default_of(c, o, value, sizeof(value))) {
			fputs(" (default: ", to);
			roff_text(value, to);
			fputc(')', to);
		}
		fputs(".\nEnvironment: ", to);
		roff_text(option_variable(o, variable), to);
		if (o->env) {
			fputs(", ", to);
			roff(o->env, strcspn(o->env, ":"), to);
		}
		fputs(".\n", to);
	}
	fputs(".TP\n.B \\-h, \\-\\-help\nshow a short help.\n", to);
}

void option_man(const struct command *c, FILE *to)
{
	fputs(".TH VIGIL\\-", to);
	for (const char *p = c->name; *p; p++)
		fputc(toupper((unsigned char)*p), to);
	fprintf(to, " 1 \"\" \"vigil %s\" \"vigil\"\n.SH NAME\nvigil\\-", VIGIL_VERSION);
	roff_text(c->name, to);
	fputs(" \\- ", to);
	roff_text(c->summary, to);
	fputs("\n.SH SYNOPSIS\n.B ", to);
	roff_text(c->usage, to);
	fputc('\n', to);
	if (c->about) {
		fputs(".SH DESCRIPTION\n", to);
		for (const char *p = c->about; *p;) {
			size_t n = strcspn(p, "\n");
			if (n == 0)
				fputs(".PP\n", to);
			roff(p, n, to);
			if (n > 0)
				fputc('\n', to);
			p += n + (p[n] == '\n');
		}
	}
	if (c->examples) {
		fputs(".SH EXAMPLES\n.nf\n", to);
		roff_text(c->examples, to);
		fputs("\n.fi\n", to);
	}
	man_options(c, to);
	fputs(".SH \"EXIT STATUS\"\n", to);
	roff_text(exit_statuses(c), to);
	fputs("\n.SH FILES\n.I /etc/vigil/vigil.yaml\n.br\n.I $XDG_CONFIG_HOME/vigil/vigil.yaml\n.br\n.I "
	      "./vigil.yaml\n.PP\n"
	      "Options of some commands can be set there, see vigil\\-config(1); flags and the environment come "
	      "first.\n"
	      ".SH \"SEE ALSO\"\nvigil(1)\n",
	      to);
}

/* After an option that takes a value nothing is offered: bash then completes names of files. */
static void completion_of_values(const struct command *c, FILE *to)
{
	const char *between = "\t";
	for (const struct option *o = next_shown(c->options); o; o = next_shown(o + 1)) {
		if (o->type == OPTION_CHOICE || o->type == OPTION_FLAG || !o->arg)
			continue;
		fprintf(to, "%s%s:--%s", between, c->name, option_name(o));
		if (o->letter)
			fprintf(to, "|%s:-%c", c->name, o->letter);
		between = "|";
	}
	if (between[0] == '|')
		fputs(") return ;;\n", to);
}

/* First words that a command knows; for help, all commands. */
static void completion_of_words(const struct command *const *commands, FILE *to)
{
	fputs("\tif [ \"$COMP_CWORD\" -eq 2 ]; then\n\t\tcase ${COMP_WORDS[1]} in\n"
	      "\t\thelp) COMPREPLY=($(compgen -W '",
	      to);
	for (size_t i = 0; commands[i]; i++)
		fprintf(to, "%s ", commands[i]->name);
	fputs("' -- \"$word\")); return ;;\n", to);
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->words)
			fprintf(to, "\t\t%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n",
				commands[i]->name, commands[i]->words);
	fputs("\t\tesac\n\tfi\n", to);
}

/* Names of jobs are others' words: they are compared and taken as they are, never expanded. */
static void completion_of_jobs(const struct command *const *commands, FILE *to)
{
	const char *between = "\tcase ${COMP_WORDS[1]} in\n\t";
	for (size_t i = 0; commands[i]; i++) {
		if (!strstr(commands[i]->usage, "JOB|"))
			continue;
		fprintf(to, "%s%s", between, commands[i]->name);
		between = "|";
	}
	fputs(")\n\t\tlocal job\n\t\twhile IFS= read -r job; do\n"
	      "\t\t\t[[ $job == \"$word\"* ]] && COMPREPLY+=(\"$job\")\n"
	      "\t\tdone < <(\"${COMP_WORDS[0]}\" jobs --names --limit 100 2>/dev/null; echo last) ;;\n\tesac\n",
	      to);
}

void option_completion(const struct command *const *commands, FILE *to)
{
	fputs("# bash completion for vigil; made by: vigil help --completion bash\n"
	      "_vigil()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '",
	      to);
	for (size_t i = 0; commands[i]; i++)
		fprintf(to, "%s ", commands[i]->name);
	fputs("--help --version' -- \"$word\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]}:$before in\n", to);
	for (size_t i = 0; commands[i]; i++) {
		for (const struct option *o = next_shown(commands[i]->options); o; o = next_shown(o + 1)) {
			if (o->type != OPTION_CHOICE)
				continue;
			fprintf(to, "\t%s:--%s) COMPREPLY=($(compgen -W '", commands[i]->name, option_name(o));
			for (int n = 0; o->choices[n]; n++)
				fprintf(to, "%s%s", n ? " " : "", o->choices[n]);
			fputs("' -- \"$word\")); return ;;\n", to);
		}
		completion_of_values(commands[i], to);
	}
	fputs("\tesac\n\tcase ${COMP_WORDS[1]} in\n", to);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(to, "\t%s) options='--help", commands[i]->name);
		for (const struct option *o = next_shown(commands[i]->options); o; o = next_shown(o + 1)) {
			fprintf(to, " --%s", option_name(o));
			if (is_foldable(o))
				fprintf(to, " --no-%s", option_name(o));
		}
		fputs("' ;;\n", to);
	}
	fputs("\tesac\n\tcase $word in\n\t-*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return ;;\n"
	      "\tesac\n",
	      to);
	completion_of_words(commands, to);
	completion_of_jobs(commands, to);
	fputs("}\ncomplete -o default -o bashdefault -F _vigil vigil\n",
	      to);
}
