/* What the parts of the page (tell/incident/page.h) share. */
#pragma once

#include <stdio.h>

#include "base/json.h"

/* Writes text for an element or a quoted attribute; newlines stay. */
void page_text(const char *text, FILE *to);
/* "<tag>text</tag>"; nothing if text is NULL or empty. tag is ours. */
void page_element(const char *tag, const char *text, FILE *to);
/* A cell of a table; "–" for an empty text. */
void page_cell(const char *text, FILE *to);
/* A cell for numbers, right-aligned. */
void page_number_cell(const char *text, FILE *to);
/* "<caption>" and a row of "<th scope=col>"; names ends with NULL, '>' begins that of a column of numbers. */
void page_table(const char *caption, const char *const *names, FILE *to);
void page_table_end(FILE *to);
/* A size as people read it, "" if the key is absent. Returns dst. */
char *page_size(const struct js *o, const char *key, char dst[static 16]);
/* A time, "" if the key is absent. Returns dst. */
char *page_time(const struct js *o, const char *key, char dst[static 24]);

/* The picture of the memory over the job's life, with its words; a sentence where there are no samples. */
void page_picture(const struct js *report, FILE *to);
