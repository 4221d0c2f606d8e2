#include "sense/framework/frameworks.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"

/* How the names of their files begin; a framework has one of these in any process that uses it. */
static const struct {
	const char *name;
	const char *file[4];
} frameworks[] = {
	{"pytorch", {"libtorch_cpu.so", "libtorch_python.so", "libtorch.so"}},
	{"tensorflow", {"libtensorflow_framework.so", "libtensorflow_cc.so", "_pywrap_tensorflow_internal.so"}},
	{"jax", {"libjax_common.so", "xla_extension.so", "_jax.so"}},
	{"paddle", {"libpaddle.so", "libpaddle_inference.so", "core_avx.so"}},
	{"mindspore", {"libmindspore_core.so", "libmindspore_backend.so"}},
	{"mxnet", {"libmxnet.so"}},
	{"ray", {"_raylet.so"}},
};

static uint32_t framework_of(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		for (size_t k = 0; k < ARRAY_SIZE(frameworks[i].file) && frameworks[i].file[k]; k++)
			if (strncmp(file, frameworks[i].file[k], strlen(frameworks[i].file[k])) == 0)
				return UINT32_C(1) << i;
	return 0;
}

uint32_t frameworks_of(const struct maps *m)
{
	uint32_t set = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].inode != 0)
			set |= framework_of(path_name(m->rows[i].path));
	return set;
}

char *frameworks_text(uint32_t set, char dst[static FRAMEWORKS_TEXT])
{
	struct buf b = {.text = dst, .cap = FRAMEWORKS_TEXT};
	buf_reset(&b);
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		if (set & UINT32_C(1) << i)
			buf_printf(&b, "%s%s", b.len > 0 ? "+" : "", frameworks[i].name);
	return dst;
}
