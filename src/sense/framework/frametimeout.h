/*
 * How long a job's framework waits for its ranks before it ends them, as far
 * as its environment or its command line says so: HOROVOD_STALL_SHUTDOWN_TIME_
 * SECONDS, DEEPSPEED_TIMEOUT (minutes), HCCL_EXEC_TIMEOUT, --ddp_timeout of the
 * Hugging Face Trainer, --distributed-timeout-minutes of Megatron and the like.
 * What a script hands to init_process_group itself is not seen.
 *
 * Pure; text of a foreign process.
 */
#pragma once

#include "base/text.h"

/* The shortest time in ns; 0: none is set. environment: NUL-separated; command: words separated by blanks. */
uint64_t frametimeout_find(struct span environment, struct span command);
