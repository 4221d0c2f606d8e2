/* Bytes of other people's processes: first byte picks the parent, then comm, command and environ parted by 0xff. */
#include <stdint.h>
#include <string.h>

#include "model/jobs/role.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct span next_part(struct span *rest)
{
	const char *end = rest->len ? memchr(rest->p, 0xff, rest->len) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : rest->len;
	struct span part = {rest->p, n};
	n += end ? 1 : 0;
	rest->p += n;
	rest->len -= n;
	return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct span rest = {(const char *)data + 1, size - 1};
	struct role_info parent = {.rank = data[0], .local_rank = NO_RANK, .role = (enum role)(data[0] % ROLE_MAX)};
	struct role_input in = {.parent = data[0] & 0x80 ? &parent : NULL};
	in.comm = next_part(&rest);
	in.command = next_part(&rest);
	in.parent_command = next_part(&rest);
	in.numbers = role_numbers_of(rest);
	struct role_info got;
	role_of(&in, &got);
	return got.role < ROLE_MAX ? 0 : 1;
}
