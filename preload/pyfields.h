/*
 * The fields of CPython's structures that the heap sampler reads: their name in struct pyoffsets (sense/python/pyrt.h)
 * and their name here. gen_pytables.c makes the tables of all versions from this list at build time, so vigil and the
 * sampler share one source of offsets.
 */
#pragma once

#define PY_FIELDS(X)                                                                                                   \
	X(thread.frame, thread_frame)                                                                                  \
	X(thread.base_frame, thread_base_frame)                                                                        \
	X(thread.cframe, thread_cframe)                                                                                \
	X(thread.cframe_current, cframe_current)                                                                       \
	X(frame.previous, frame_previous)                                                                              \
	X(frame.code, frame_code)                                                                                      \
	X(frame.instr, frame_instr)                                                                                    \
	X(frame.owner, frame_owner)                                                                                    \
	X(frame.is_entry, frame_is_entry)                                                                              \
	X(frame.tlbc_index, frame_tlbc_index)                                                                          \
	X(code.filename, code_filename)                                                                                \
	X(code.name, code_name)                                                                                        \
	X(code.qualname, code_qualname)                                                                                \
	X(code.linetable, code_linetable)                                                                              \
	X(code.firstlineno, code_firstlineno)                                                                          \
	X(code.bytecode, code_bytecode)                                                                                \
	X(code.code_bytes, code_code_bytes)                                                                            \
	X(code.tlbc, code_tlbc)                                                                                        \
	X(object.type, object_type)                                                                                    \
	X(bytes.size, bytes_size)                                                                                      \
	X(bytes.value, bytes_value)                                                                                    \
	X(str.state, str_state)                                                                                        \
	X(str.length, str_length)                                                                                      \
	X(str.ascii, str_ascii)                                                                                        \
	X(str.compact, str_compact)

#define PY_FIXED_FIRST 8 /* 3.8 to 3.12 have fixed tables */
#define PY_SELF_FIRST 13 /* 3.13 to 3.15 describe themselves */
#define PY_LAST 15
#define PY_NONE UINT32_MAX /* a field that a version does not have, or does not describe */
