/*
 * The two programs that a run begins with, in one object: libbpf reads the kernel's types, several MB, once for each
 * object, and looks for what a program names among all of them.
 */
#include "sigwatch.bpf.c"
#include "taskiter.bpf.c"

char LICENSE[] SEC("license") = "GPL";
