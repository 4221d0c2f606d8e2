#include "cli/screen/pager.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "tell/text/textout.h"

#define PAGER_WORDS 16

extern char **environ;

static struct {
	FILE *terminal; /* stdout as it was; NULL: nothing is kept */
	char *text;
	size_t len;
	bool pages, folds;
} kept;

/* Of any other one a word could be a program, or a file with commands. */
static bool pager_is_plain(const char *want)
{
	static const char *const plain[] = {"", "cat", "less", "more"};
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (strcmp(want, plain[i]) == 0)
			return true;
	return false;
}

/* The pager's words, as blanks part them: no shell looks at them. False: the user wants none. */
static bool pager_words(char *dst, size_t cap, char *word[static PAGER_WORDS + 1])
{
	const char *want = getenv("VIGIL_PAGER");
	size_t n = 0;
	if (!want)
		want = getenv("PAGER");
	if (!want)
		want = "less";
	if (!pager_is_plain(want) && foreign_environ_given())
		want = "less";
	if (strlen(want) >= cap)
		return false;
	memcpy(dst, want, strlen(want) + 1);
	for (char *rest = dst, *w; n < PAGER_WORDS && (w = strsep(&rest, " \t"));)
		if (*w)
			word[n++] = w;
	word[n] = NULL;
	return n > 0 && strcmp(word[0], "cat") != 0;
}

/* True if somebody sits at a terminal that a pager can use. */
static bool pager_wanted(void)
{
	const char *term = getenv("TERM");
	char words[512], *word[PAGER_WORDS + 1];
	return isatty(STDIN_FILENO) && term && strcmp(term, "dumb") != 0 && pager_words(words, sizeof(words), word);
}

void pager_begin(bool folds)
{
	if (kept.terminal || !isatty(STDOUT_FILENO))
		return;
	kept.pages = pager_wanted();
	kept.folds = folds;
	if (!kept.pages && !kept.folds)
		return;
	FILE *to = open_memstream(&kept.text, &kept.len);
	if (!to)
		return;
	kept.terminal = stdout;
	stdout = to;
}

void pager_whole_lines(void)
{
	kept.folds = false;
}

/* Lines that a terminal of so many columns needs for the text; escape sequences take no room. */
static size_t lines_of(const char *text, size_t len, size_t columns)
{
	size_t lines = 0, used = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			lines++;
			used = 0;
		} else if (text[i] == '\033') {
			while (i + 1 < len && text[i] != 'm' && text[i + 1] != '\n')
				i++;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80 && ++used > columns) {
			lines++;
			used = 1;
		}
	}
	return lines;
}

static bool pager_fits(const char *text, size_t len)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return true;
	return lines_of(text, len, size.ws_col) < size.ws_row;
}

/*
 * less leaves what it showed on the screen, shows colours, starts nothing and opens no other file. Root's keeps no
 * history: HOME may be a user's.
 */
static void pager_environment(void)
{
	(void)setenv("LESS", "RX", 0);
	(void)setenv("LV", "-c", 0);
	(void)setenv("LESSSECURE", "1", 1);
	if (geteuid() == 0)
		(void)setenv("LESSHISTFILE", "-", 1);
}

/* The pager's number; -1: it cannot be started. */
static pid_t pager_start(char **word, int from, int not_to)
{
	posix_spawn_file_actions_t fds;
	posix_spawnattr_t how;
	sigset_t usual;
	pid_t pid = -1;
	char path[PATH_MAX];
	if (!foreign_environ_find(word[0], path))
		return -1;
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGQUIT);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	sigaddset(&usual, SIGXCPU);
	posix_spawn_file_actions_init(&fds);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_adddup2(&fds, from, STDIN_FILENO);
	posix_spawn_file_actions_addclose(&fds, not_to);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
	pager_environment();
	int r = posix_spawn(&pid, path, &fds, &how, word, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&fds);
	return r == 0 ? pid : -1;
}

/* True: the pager has shown it, or was left before it had read it all. */
static bool pager_show(const char *text, size_t len)
{
	char words[512], *word[PAGER_WORDS + 1];
	cleanup(closep) int from = -1;
	cleanup(closep) int to = -1;
	int ends[2], status = 0;
	if (!pager_words(words, sizeof(words), word) || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	from = ends[0];
	to = ends[1];
	/* ^C is the pager's */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	pid_t pid = pager_start(word, from, to);
	if (pid < 0)
		return false;
	closep(&from);
	ignore(file_write_all(to, text, len), "the reader may leave early");
	closep(&to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return !(WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127));
}

/* For a program, or for who copies it: it stays as it is, and is not paged. */
static bool kept_is_json(void)
{
	return kept.len > 0 && (kept.text[0] == '{' || kept.text[0] == '[');
}

static void kept_fold(void)
{
	char *folded = NULL;
	size_t len = 0;
	const size_t width = textout_width(stdout);
	if (!kept.folds || width == 0 || kept.len == 0 || kept_is_json())
		return;
	FILE *to = open_memstream(&folded, &len);
	if (!to)
		return;
	textout_fold(to, kept.text, kept.len, width);
	if (fclose(to) != 0) {
		free(folded);
		return;
	}
	free(kept.text);
	kept.text = folded;
	kept.len = len;
}

static bool restore(bool page)
{
	if (!kept.terminal)
		return true;
	bool whole = fclose(stdout) == 0;
	stdout = kept.terminal;
	kept.terminal = NULL;
	kept_fold();
	const bool pages = page && kept.pages && !kept_is_json() && !pager_fits(kept.text, kept.len);
	if (!pages || !pager_show(kept.text, kept.len))
		whole = fwrite(kept.text, 1, kept.len, stdout) == kept.len && fflush(stdout) == 0 && whole;
	free(kept.text);
	kept.text = NULL;
	kept.len = 0;
	return whole;
}

void pager_leave(void)
{
	(void)restore(false);
}

bool pager_end(void)
{
	return restore(true);
}
