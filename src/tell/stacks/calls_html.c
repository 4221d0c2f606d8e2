#include "tell/stacks/calls_show.h"

#include <string.h>

#include "model/incident/incident.h" /* NO_RANK */
#include "tell/text/textout.h"

/*
 * One page, no network: the numbers as a JSON block, a small script that makes
 * the table of it. All texts go into the page as text nodes, so that a name
 * cannot become markup; in the block "<" is written \u003c, so that a name
 * cannot end it.
 */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\"><title>vigil calls</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:14px/1.4 system-ui,sans-serif;margin:1em 1.5em}\n"
	"h1{font-size:1.2em;margin:0 0 .3em}p{margin:.2em 0}\n"
	"input{font:inherit;width:30em;max-width:90%;padding:.2em .4em;margin:.6em 0}\n"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
	"th{position:sticky;top:0;background:Canvas;text-align:right;padding:.2em .6em;border-bottom:1px solid "
	"GrayText}\n"
	"th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid Highlight}\n"
	"th[aria-sort=descending] button::after{content:\" \\25BE\"}th[aria-sort=ascending] button::after{content:\" "
	"\\25B4\"}\n"
	"td{text-align:right;padding:.1em .6em;white-space:nowrap}\n"
	"td:last-child,th:last-child{text-align:left;white-space:normal;overflow-wrap:anywhere}\n"
	"tbody tr:hover{background:color-mix(in srgb,Highlight 15%,transparent)}\n"
	"tr.open td{font-weight:600}tr.caller td{color:GrayText}tbody tr.f{cursor:pointer}\n"
	".file{color:GrayText}\n"
	"</style></head><body>\n"
	"<h1 id=\"title\"></h1><p id=\"sum\"></p>\n"
	"<input id=\"find\" type=\"search\" placeholder=\"filter by file or function\" aria-label=\"filter\">\n"
	"<p id=\"count\" aria-live=\"polite\"></p>\n"
	"<table><thead><tr id=\"cols\"></tr></thead><tbody id=\"rows\"></tbody></table>\n"
	"<noscript>This page needs its own script to lay out the table; <code>vigil calls</code> prints the "
	"same.</noscript>\n"
	"<script type=\"application/json\" id=\"data\">";

/* A function is [file, line, name, nc, cc, tt, ct, min, mean, max, rank, [[caller, nc, cc, tt, ct]…]]. */
static const char script[] =
	"</script>\n<script>\n'use strict';\n"
	"const d=JSON.parse(document.getElementById('data').textContent),$=i=>document.getElementById(i);\n"
	"const s3=x=>x.toFixed(3),per=(t,n)=>n?s3(t/n):'';\n"
	"const label=f=>f[0]==='~'&&f[1]===0?'{'+f[2].replace(/^<(.*)>$/,'$1')+'}':f[0]+':'+f[1]+'('+f[2]+')';\n"
	"const cols=[];\n"
	"if(d.sampled)cols.push(['samples',f=>f[3],f=>f[3]]);\n"
	"else cols.push(['ncalls',f=>f[3],f=>f[3]===f[4]?f[3]:f[3]+'/'+f[4]]);\n"
	"cols.push([d.sampled?'own s':'tottime',f=>f[5],f=>s3(f[5])]);\n"
	"if(!d.sampled)cols.push(['percall',f=>f[3]?f[5]/f[3]:-1,f=>per(f[5],f[3])]);\n"
	"cols.push([d.sampled?'total s':'cumtime',f=>f[6],f=>s3(f[6])]);\n"
	"if(!d.sampled)cols.push(['percall',f=>f[4]?f[6]/f[4]:-1,f=>per(f[6],f[4])]);\n"
	"if(d.parts>1){cols.push(['min',f=>f[7],f=>s3(f[7])],['mean',f=>f[8],f=>s3(f[8])],['max',f=>f[9],f=>s3(f[9])],"
	"\n"
	" ['spread',f=>f[9]-f[7],f=>s3(f[9]-f[7])]);\n"
	" if(d.functions.some(f=>f[10]!==null))cols.push(['slowest "
	"rank',f=>f[10]===null?-1:f[10],f=>f[10]===null?'':f[10]]);}\n"
	"cols.push(['filename:lineno(function)',f=>label(f),f=>label(f)]);\n"
	"let by=d.sort==='ncalls'?0:d.sort==='cumtime'?(d.sampled?2:3):1,down=true,most=500;\n"
	"const open=new Set(),all=d.functions.map((f,i)=>i).filter(i=>d.functions[i][12]);\n"
	"$('title').textContent='Calls of '+d.subject;\n"
	"$('sum').textContent=d.sampled?d.primitive+' samples in '+s3(d.own_s)+' seconds: estimates, not counts of "
	"calls'\n"
	" :d.calls+' function calls'+(d.calls===d.primitive?'':' ('+d.primitive+' primitive calls)')+' in "
	"'+s3(d.own_s)+' seconds';\n"
	"if(d.parts>1)$('sum').textContent+=', '+d.parts+' processes or ranks merged';\n"
	"function cell(tr,t){const td=document.createElement('td');td.textContent=t;tr.append(td);return td}\n"
	"function row(i,body){const f=d.functions[i],tr=document.createElement('tr');\n"
	" tr.className='f'+(open.has(i)?' open':'');tr.tabIndex=0;tr.title='show who called it';\n"
	" for(const c of cols)cell(tr,c[2](f));\n"
	" const flip=()=>{open.has(i)?open.delete(i):open.add(i);draw()};\n"
	" tr.onclick=flip;tr.onkeydown=e=>{if(e.key==='Enter')flip()};body.append(tr);\n"
	" if(open.has(i))for(const e of [...f[11]].sort((a,b)=>b[4]-a[4])){\n"
	"  const g=d.functions[e[0]],t=document.createElement('tr');t.className='caller';\n"
	"  const h=[g[0],g[1],g[2],e[1],e[2],e[3],e[4],0,0,0,null];\n"
	"  cols.forEach((c,k)=>cell(t,k===cols.length-1?'\\u21B3 called by "
	"'+label(g):k<(d.sampled?3:5)?c[2](h):''));body.append(t)}}\n"
	"function draw(){const q=$('find').value.toLowerCase(),key=cols[by][1];\n"
	" const hit=all.filter(i=>!q||label(d.functions[i]).toLowerCase().includes(q));\n"
	" hit.sort((a,b)=>{const x=key(d.functions[a]),y=key(d.functions[b]),o=x<y?-1:x>y?1:0;return down?-o:o});\n"
	" $('cols').replaceChildren(...cols.map((c,k)=>{const "
	"th=document.createElement('th'),b=document.createElement('button');\n"
	"  th.scope='col';b.textContent=c[0];b.onclick=()=>{down=by===k?!down:k<cols.length-1;by=k;draw()};\n"
	"  if(k===by)th.setAttribute('aria-sort',down?'descending':'ascending');th.append(b);return th}));\n"
	" const body=document.createDocumentFragment();for(const i of "
	"hit.slice(0,most))row(i,body);$('rows').replaceChildren(body);\n"
	" const c=$('count');c.textContent=hit.length+' of '+all.length+' functions'+(hit.length>most?', the first "
	"'+most+' shown ':'');\n"
	" if(hit.length>most){const b=document.createElement('button');b.textContent='show "
	"all';b.onclick=()=>{most=Infinity;draw()};c.append(b)}}\n"
	"let wait=0;$('find').oninput=()=>{clearTimeout(wait);wait=setTimeout(draw,80)};draw();\n"
	"</script></body></html>\n";

static void text_put(const char *raw, FILE *to)
{
	char text[4096];
	textout_clean(raw, text, sizeof(text));
	fputc('"', to);
	for (const char *p = text; *p; p++) {
		if (strchr("\"\\<>&", *p))
			fprintf(to, "\\u%04x", (unsigned)(unsigned char)*p);
		else
			fputc(*p, to);
	}
	fputc('"', to);
}

static void function_put(const struct calls *c, uint32_t i, FILE *to)
{
	const struct call_function *f = calls_get(c, i);
	const struct call_spread s = calls_spread(c, f);
	fputs(i ? ",\n[" : "\n[", to);
	text_put(f->file, to);
	fprintf(to, ",%d,", f->line);
	text_put(f->name, to);
	fprintf(to, ",%llu,%llu,%.9g,%.9g,%.9g,%.9g,%.9g,", (unsigned long long)f->n_calls,
		(unsigned long long)f->n_primitive, f->own_s, f->cumulative_s, s.min_s, s.mean_s, s.max_s);
	if (s.max_rank == NO_RANK)
		fputs("null,[", to);
	else
		fprintf(to, "%d,[", s.max_rank);
	for (size_t k = 0; k < f->n_edges; k++) {
		const struct call_edge *e = &f->edges[k];
		fprintf(to, "%s[%u,%llu,%llu,%.9g,%.9g]", k ? "," : "", e->caller, (unsigned long long)e->n_calls,
			(unsigned long long)e->n_primitive, e->own_s, e->cumulative_s);
	}
	fprintf(to, "],%s]", call_function_is_counted(f) ? "true" : "false");
}

int calls_html(const struct calls *c, const struct calls_want *want, FILE *to)
{
	static const char *const order[] = {"tottime", "cumtime", "ncalls"};
	const struct calls_sum sum = calls_total(c);
	fputs(head, to);
	fputs("{\"subject\":", to);
	text_put(want->title ? want->title : "", to);
	fprintf(to,
		",\"sampled\":%s,\"sort\":\"%s\",\"calls\":%llu,\"primitive\":%llu,\"own_s\":%.9g,\"parts\":%u,"
		"\"functions\":[",
		calls_sampled(c) ? "true" : "false", order[want->sort], (unsigned long long)sum.n_calls,
		(unsigned long long)sum.n_primitive, sum.own_s, calls_parts(c));
	for (uint32_t i = 0; i < calls_len(c); i++)
		function_put(c, i, to);
	fputs("]}", to);
	fputs(script, to);
	return ferror(to) ? -EIO : 0;
}
