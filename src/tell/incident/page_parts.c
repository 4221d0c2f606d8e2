#include "tell/incident/page_parts.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "base/utf8.h"

/* One character; what is none, or would hide or turn the text around it, becomes U+FFFD. */
static void char_put(const char *p, size_t n, uint32_t code, FILE *to)
{
	if (n == 0 || (utf8_hidden(code) && code != '\n' && code != '\t'))
		fputs("\xef\xbf\xbd", to);
	else if (code == '<')
		fputs("&lt;", to);
	else if (code == '>')
		fputs("&gt;", to);
	else if (code == '&')
		fputs("&amp;", to);
	else if (code == '"')
		fputs("&quot;", to);
	else if (code == '\'')
		fputs("&#39;", to);
	else
		(void)fwrite(p, 1, n, to); /* ferror is asked in the end */
}

void page_text(const char *text, FILE *to)
{
	size_t len = text ? strlen(text) : 0;
	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t n = utf8_char(text + i, len - i, &code);
		char_put(text + i, n, code, to);
		i += n ? n : 1;
	}
}

void page_element(const char *tag, const char *text, FILE *to)
{
	if (!text || !*text)
		return;
	fprintf(to, "<%s>", tag);
	page_text(text, to);
	fprintf(to, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

void page_cell(const char *text, FILE *to)
{
	page_element("td", text && *text ? text : "–", to);
}

void page_number_cell(const char *text, FILE *to)
{
	page_element("td class=\"n\"", text && *text ? text : "–", to);
}

void page_table(const char *caption, const char *const *names, FILE *to)
{
	fputs("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"", to);
	page_text(caption, to);
	fputs("\"><table>", to);
	page_element("caption", caption, to);
	fputs("<thead><tr>", to);
	for (size_t i = 0; names[i]; i++) {
		bool numbers = names[i][0] == '>';
		page_element(numbers ? "th class=\"n\" scope=\"col\"" : "th scope=\"col\"", names[i] + numbers, to);
	}
	fputs("</tr></thead><tbody>\n", to);
}

void page_table_end(FILE *to)
{
	fputs("</tbody></table></div>\n", to);
}

char *page_size(const struct js *o, const char *key, char dst[static 16])
{
	dst[0] = '\0';
	if (js_get(o, key))
		size_format((uint64_t)MAX(js_get_i64(o, key, 0), (int64_t)0), dst);
	return dst;
}

char *page_time(const struct js *o, const char *key, char dst[static 24])
{
	dst[0] = '\0';
	if (js_get_i64(o, key, 0) > 0)
		time_format(js_get_i64(o, key, 0), dst);
	return dst;
}
