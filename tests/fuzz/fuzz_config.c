/* Any bytes as a configuration file: an error or entries, never more. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/file.h"
#include "cli/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct option table[] = {{.name = "name", .type = OPTION_TEXT, .help = "x"}, {.name = NULL}};
	static const struct command run = {.name = "run", .options = table, .options_size = sizeof(char *)};
	static const struct command *const all[] = {&run, NULL};
	char path[64];
	cleanup(closep) int fd = memfd_create("config", MFD_CLOEXEC);
	if (fd < 0 || file_write_all(fd, data, size) < 0)
		return 0;
	TEXT_FORMAT(path, "/dev/fd/%d", fd);
	cleanup(config_done) struct config c = {.entries = NULL};
	struct fault f = {.text = ""};
	const char *name = NULL;
	if (config_add_file(&c, path, CONFIG_USER, &f) == 0 && config_check(&c, all, &f) == 0)
		ignore(config_apply(&c, &run, &name, &f), "every outcome is fine");
	return 0;
}
