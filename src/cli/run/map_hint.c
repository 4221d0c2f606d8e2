#include "cli/run/map_hint.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"

static const char fits[] =
	"vigil map by itself starts no more than fits into memory; --memory-limit says how much that is";
static const char cores[] = "tasks that run are as many as -j says; at first one a core";
static const char here[] = "tasks run on this machine alone";
static const char marks[] = "the input is always {}, its parts {1} {2} … and {.} {/} {//} {/.}";
static const char shown[] = "--dry-run prints the commands, --joblog keeps them, --tag puts the input before each line";
static const char folder[] = "write cd DIR && vigil map …, or sh -c 'cd … && …'";
static const char lines[] = "-N gives each task so many inputs";
static const char header[] = "columns have numbers: --colsep and {1} {2} …";
static const char environment[] = "tasks get vigil's environment as it is";

const struct option_absent map_absent[] = {
	{"memfree", fits},
	{"memsuspend", fits},
	{"noswap", fits},
	{"load", cores},
	{"nice", "write nice -n 10 vigil map …"},
	{"progress", "--bar shows how far it is, --eta when it will be done"},
	{"verbose", shown},
	{"v", shown},
	{"t", shown},
	{"I", marks},
	{"i", marks},
	{"replace", marks},
	{"rpl", marks},
	{"plus", marks},
	{"header", header},
	{"L", lines},
	{"l", lines},
	{"max-lines", lines},
	{"tagstring", "--tag puts the input before each line"},
	{"wd", folder},
	{"workdir", folder},
	{"sshlogin", here},
	{"sshloginfile", here},
	{"S", here},
	{"transferfile", here},
	{"env", environment},
	{"halt-on-error", "--halt now,fail=1 ends all at the first that fails, --halt soon,fail=1 starts no more"},
	{"pipepart", "--pipe -a FILE reads blocks of a file"},
	{"round-robin", "--pipe gives each block to a task of its own"},
	{NULL, NULL},
};

/*
 * "|", "&&"; ">", ">>log", "2>/dev/null", "&>log", "2>&1". Comparisons such as ">=2" are none, and "<" most often is
 * one.
 */
static bool is_for_a_shell(const char *word)
{
	static const char *const whole[] = {"|", "||", "&&", "|&"};
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (strcmp(word, whole[i]) == 0)
			return true;
	const char *rest = word + (word[0] == '&' ? 1 : strspn(word, "0123456789"));
	return rest[0] == '>' && rest[strspn(rest, ">")] != '=';
}

void map_hint_words(char *const *words, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (is_for_a_shell(words[i])) {
			log_warning("'%.40s' is an argument, as there is no shell here; for a line of shell write sh "
				    "-c '…' (-q: this is meant)",
				    words[i]);
			return;
		}
	if (n == 3 && strcmp(words[1], "-c") == 0 && strcmp(words[2], "{}") == 0)
		log_warning("the script is the input alone, which is put in as one word; for inputs that are lines of "
			    "shell write %s -c 'eval {}' (-q: this is meant)",
			    words[0]);
}

void map_hint_terminal(const struct map_spec *spec)
{
	bool typed = false;
	for (size_t i = 0; i < spec->n_sources; i++)
		typed |= spec->source[i].path && strcmp(spec->source[i].path, "-") == 0;
	if (typed && isatty(STDIN_FILENO))
		log_info("inputs are read from the terminal, one a line, Ctrl-D ends them; or give them after :::, by "
			 "-a FILE or through a pipe");
}
