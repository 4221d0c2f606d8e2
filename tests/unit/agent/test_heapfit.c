/* Whether the library can get into a program, by the program's file. */
#include "scratch_fixture.h"

#include <elf.h>

#include "agent/heap/heapfit.h"

/* A program with one segment that names its loader; NULL: without. */
static const char *program_put(const char *name, unsigned char class, const char *loader, mode_t mode)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		char text[64];
	} e = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, class, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(typeof(e), segment),
			.e_phnum = 1,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr)},
	       .segment = {.p_type = loader ? PT_INTERP : PT_NULL, .p_offset = offsetof(typeof(e), text)}};
#ifdef __aarch64__
	e.head.e_machine = EM_AARCH64;
#else
	e.head.e_machine = EM_X86_64;
#endif
	if (loader) {
		TEXT_COPY(e.text, loader);
		e.segment.p_filesz = e.segment.p_memsz = strlen(loader) + 1;
	}
	return scratch_put(name, &e, sizeof(e), mode);
}

static enum heapfit fit_of(const char *argv0)
{
	char path[PATH_MAX];
	return heapfit_of(argv0, path, sizeof(path));
}

static void a_loader_of_glibc_is_fine_and_others_are_not(void **state)
{
	(void)state;
	assert_int_equal(fit_of(program_put("glibc", ELFCLASS64, "/lib64/ld-linux-x86-64.so.2", 0755)), HEAPFIT_FINE);
	assert_int_equal(fit_of(program_put("nix", ELFCLASS64, "/nix/store/1-musl-free/ld.so", 0755)), HEAPFIT_FINE);
	assert_int_equal(fit_of(program_put("musl", ELFCLASS64, "/lib/ld-musl-x86_64.so.1", 0755)), HEAPFIT_OTHER_LIBC);
	assert_int_equal(fit_of(program_put("bare", ELFCLASS64, "ld64-uClibc.so.1", 0755)), HEAPFIT_OTHER_LIBC);
	assert_int_equal(fit_of(program_put("phone", ELFCLASS64, "/system/bin/linker64", 0755)), HEAPFIT_OTHER_LIBC);
	assert_int_equal(fit_of(program_put("static", ELFCLASS64, NULL, 0755)), HEAPFIT_STATIC);
	assert_int_equal(fit_of(program_put("small", ELFCLASS32, "/lib/ld-linux.so.2", 0755)), HEAPFIT_OTHER_KIND);
}

static void an_interpreter_is_judged_in_place_of_its_script(void **state)
{
	(void)state;
	char script[300], path[PATH_MAX];
	const char *program = program_put("interpreter", ELFCLASS64, "/lib/ld-musl-x86_64.so.1", 0755);
	TEXT_FORMAT(script, "#! %s -u\nprint()\n", program);
	const char *first = scratch_put("first", script, strlen(script), 0755);
	assert_int_equal(heapfit_of(first, path, sizeof(path)), HEAPFIT_OTHER_LIBC);
	assert_string_equal(path, scratch_path("interpreter"));
	TEXT_FORMAT(script, "#!%s\n", scratch_path("loop"));
	assert_int_equal(fit_of(scratch_put("loop", script, strlen(script), 0755)), HEAPFIT_FINE);
	assert_int_equal(fit_of(scratch_put("text", "no program", 10, 0755)), HEAPFIT_FINE);
	assert_int_equal(fit_of(scratch_put("blank", "#!\n", 3, 0755)), HEAPFIT_FINE);
}

static void programs_are_searched_as_execvp_does(void **state)
{
	(void)state;
	char path[PATH_MAX], places[300];
	program_put("tool", ELFCLASS64, NULL, 0755);
	program_put("data", ELFCLASS64, NULL, 0644);
	assert_int_equal(mkdir(scratch_path("below"), 0755), 0);
	assert_int_equal(mkdir(scratch_path("below/tool"), 0755), 0);
	TEXT_FORMAT(places, "/nowhere:%s/below:%s", scratch, scratch);
	assert_int_equal(setenv("PATH", places, 1), 0);
	assert_int_equal(heapfit_of("tool", path, sizeof(path)), HEAPFIT_STATIC);
	assert_string_equal(path, scratch_path("tool"));
	assert_int_equal(fit_of("data"), HEAPFIT_FINE);
	assert_int_equal(fit_of("missing"), HEAPFIT_FINE);
	assert_int_equal(fit_of("/nowhere/tool"), HEAPFIT_FINE);
}

static void a_program_that_gains_rights_takes_no_library(void **state)
{
	(void)state;
	const char *path = program_put("sudo", ELFCLASS64, "/lib64/ld-linux-x86-64.so.2", 0755);
	/* only root may give a file away; for others the case needs a file that is there */
	if (chown(path, 12345, 12345) < 0)
		skip();
	assert_int_equal(fit_of(path), HEAPFIT_FINE);
	assert_int_equal(chmod(path, 04755), 0);
	assert_int_equal(fit_of(path), HEAPFIT_SECURE);
	assert_int_equal(chmod(path, 02755), 0);
	assert_int_equal(fit_of(path), HEAPFIT_SECURE);
	assert_int_equal(chown(path, getuid(), getgid()), 0);
	assert_int_equal(chmod(path, 06755), 0);
	assert_int_equal(fit_of(path), HEAPFIT_FINE);
}

static void each_misfit_has_a_sentence(void **state)
{
	(void)state;
	assert_string_equal(heapfit_words(HEAPFIT_FINE), "");
	for (enum heapfit f = HEAPFIT_STATIC; f <= HEAPFIT_SECURE; f++)
		assert_true(strncmp(heapfit_words(f), "it ", 3) == 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_loader_of_glibc_is_fine_and_others_are_not),
		IN_FOLDER(an_interpreter_is_judged_in_place_of_its_script),
		IN_FOLDER(programs_are_searched_as_execvp_does),
		IN_FOLDER(a_program_that_gains_rights_takes_no_library),
		cmocka_unit_test(each_misfit_has_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
