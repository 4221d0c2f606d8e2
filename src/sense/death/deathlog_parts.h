/* Shared by the files of the reader of logs; only deathlog*.c include this. */
#pragma once

#include "sense/death/deathlog.h"
#include "sense/death/logshape.h"

#define DEATHLOG_LATEST 64

/* State that is kept from line to line while one text is read. */
struct reading {
	struct deathlog *d;
	const char *source;
	int32_t rank; /* of the log; NO_RANK */
	uint32_t line; /* number of this line, from 1 on */
	uint64_t at_bytes; /* where it begins in the text */
	struct span latest[DEATHLOG_LATEST]; /* the latest lines that are not empty; a ring */
	size_t n_latest;
	uint32_t n_frames; /* lines of a stack in a row; of very many only the first are kept */
	bool tab_below; /* the next line begins with a tab */
	bool traceback; /* inside a traceback: its last line has not come yet */
	bool quoted; /* inside what an exception quotes of a worker, with its own traceback's end below */
	bool of_worker; /* the traceback is of a worker, quoted in the text of its parent's exception */
	bool ignored; /* the next traceback, or this one, is of an exception that Python itself passes over */
	bool of_thread; /* the next traceback, or this one, is of a thread that it ends */
	bool of_task; /* of_thread: it is of a task, which ends none */
	int32_t traceback_rank;
	uint8_t text_lines; /* so many of the next lines, while they are indented, are of the exception's text */
	uint32_t traceback_line; /* where it began */
	struct span frame; /* the line of its last frame; empty: none came yet */
	struct span own_frame; /* the same of its last frame in no library */
	bool group; /* inside the tree of an ExceptionGroup */
	bool group_member; /* the next line in it is the exception of a member, or its traceback */
	bool chained, direct; /* the next traceback belongs to the one before it */
	struct span previous; /* the line before this one; empty: there is none, or it is of a traceback */
	struct span before_traceback; /* the same of the line that the traceback began with */
	uint16_t bind_port; /* of a call of bind() in the traceback's source lines; 0: none */
	char command_quote; /* inside a quoted word of a command that a shell repeats; 0: not */
	uint32_t command_lines; /* so many of the next lines may be of that command */
	bool root_cause; /* inside the "Root Cause" block of torchrun */
	struct log_hint torchrun;
	struct logshape shape;
};

void deathlog_hint_add(struct deathlog *d, const struct log_hint *add);
struct log_hint deathlog_hint_make(const struct reading *r, const char *id, struct span text, int32_t rank);
/* True for what runtimes write around and between the frames of a stack, which is no reason. */
bool deathlog_around_frames(struct span line);
/* Adds the hint last_line. */
void deathlog_last(struct reading *r);
/* Takes the branches of an ExceptionGroup's tree off the line. True when the line belongs to such a tree. */
bool traceback_group(struct reading *r, struct span *line, int32_t rank);
/* True when the line belongs to a Python traceback. */
bool traceback_line(struct reading *r, struct span line, int32_t rank);
/*
 * After its main thread's exception Python waits for the other threads, and what one of them raises then stands last.
 * The main one ended the process where nothing but tracebacks follows it: makes it python_traceback.
 */
void traceback_main_first(const struct deathlog *d, const char *source);
