// A Chrome trace as lanes with rows of spans, moments and counters. Pure.

export interface TraceEvent {
	ph: string;
	name?: string;
	pid?: number;
	tid?: number;
	ts?: number;
	dur?: number;
	cat?: string;
	args?: Record<string, unknown>;
}

export interface Trace {
	traceEvents?: TraceEvent[];
	otherData?: { started_unix_ms?: number; until_unix_ms?: number; samples?: number; left_out?: number };
}

export interface Span {
	from: number;
	to: number;
	name: string;
	text: string;
	cat: string;
}

export interface Row {
	lane: number;
	title: string;
	kind: "lane" | "spans" | "moments" | "counter";
	/** sorted by `from`; moments have no length */
	spans: Span[];
	points: { at: number; value: number }[];
	most: number;
}

export interface Lanes {
	rows: Row[];
	/** microseconds since the job began */
	from: number;
	to: number;
	start_unix_ms: number;
	/** moments of incidents, drawn over all rows */
	incidents: Span[];
}

const text = (value: unknown): string =>
	typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

function describe(e: TraceEvent): string {
	const args = e.args ?? {};
	return [
		text(args["text"]),
		text(args["summary"]),
		text(args["command"]),
		args["pid"] !== undefined ? `pid ${text(args["pid"])}` : "",
		text(args["ended"]),
	]
		.filter(Boolean)
		.join(" · ");
}

interface Names {
	lanes: Map<number, string>;
	order: Map<number, number>;
	rows: Map<string, string>;
}

function namesOf(events: TraceEvent[]): Names {
	const names: Names = { lanes: new Map(), order: new Map(), rows: new Map() };
	for (const e of events) {
		if (e.ph !== "M" || e.pid === undefined) continue;
		if (e.name === "process_name") names.lanes.set(e.pid, text(e.args?.["name"]));
		if (e.name === "process_sort_index") names.order.set(e.pid, Number(e.args?.["sort_index"]) || 0);
		if (e.name === "thread_name") names.rows.set(`${e.pid}.${e.tid}`, text(e.args?.["name"]));
	}
	return names;
}

/** Counters that are shown, their fields, and what their rows are called. */
const COUNTERS: Record<string, Record<string, string>> = {
	"memory bytes": { own: "memory", job: "memory", used: "memory used" },
	step: { step: "step" },
	CPU: { cores: "CPU" },
	"disk bytes/s": { read: "disk read", written: "disk written" },
};

/** "own bytes of python3 (4211)" of a job without ranks; the number is short enough for a phone, the name stands in the span. */
function fieldsOf(name: string): Record<string, string> {
	const pid = /^own bytes of .*\((\d+)\)$/.exec(name)?.[1];
	return pid !== undefined ? { own: `mem ${pid}` } : (COUNTERS[name] ?? {});
}

function addCounter(rows: Map<string, Row>, e: TraceEvent): void {
	for (const [field, title] of Object.entries(fieldsOf(e.name ?? ""))) {
		const value = e.args?.[field];
		if (typeof value !== "number" || !Number.isFinite(value)) continue;
		const key = `${e.pid}|c|${e.name}|${field}`;
		const row = rows.get(key) ?? {
			lane: e.pid ?? 0,
			title,
			kind: "counter" as const,
			spans: [],
			points: [],
			most: 0,
		};
		row.points.push({ at: e.ts ?? 0, value });
		row.most = Math.max(row.most, value);
		rows.set(key, row);
	}
}

function addSpan(rows: Map<string, Row>, names: Names, e: TraceEvent): void {
	const key = `${e.pid}|s|${e.tid}`;
	const kind = e.ph === "X" ? "spans" : "moments";
	const row = rows.get(key) ?? {
		lane: e.pid ?? 0,
		title: names.rows.get(`${e.pid}.${e.tid}`) ?? "",
		kind,
		spans: [],
		points: [],
		most: 0,
	};
	const from = e.ts ?? 0;
	row.spans.push({
		from,
		to: from + Math.max(0, e.dur ?? 0),
		name: e.name ?? "",
		text: describe(e),
		cat: e.cat ?? "",
	});
	rows.set(key, row);
}

export function lanesOf(trace: Trace): Lanes {
	const events = (trace.traceEvents ?? []).filter((e) => e.ts === undefined || Number.isFinite(e.ts));
	const names = namesOf(events);
	const rows = new Map<string, Row>();
	for (const e of events) {
		if (e.ph === "C") addCounter(rows, e);
		else if (e.ph === "X" || e.ph === "i" || e.ph === "I") addSpan(rows, names, e);
	}
	const lanes = [...new Set([...rows.values()].map((r) => r.lane))].sort(
		(a, b) => (names.order.get(a) ?? a) - (names.order.get(b) ?? b),
	);
	const out: Row[] = [];
	let from = Infinity;
	let to = -Infinity;
	for (const row of rows.values()) {
		row.spans.sort((a, b) => a.from - b.from);
		row.points.sort((a, b) => a.at - b.at);
		for (const s of row.spans) {
			from = Math.min(from, s.from);
			to = Math.max(to, s.to);
		}
		for (const p of row.points) {
			from = Math.min(from, p.at);
			to = Math.max(to, p.at);
		}
	}
	for (const lane of lanes) {
		out.push({
			lane,
			title: names.lanes.get(lane) ?? `lane ${lane}`,
			kind: "lane",
			spans: [],
			points: [],
			most: 0,
		});
		const order = { spans: 0, moments: 1, counter: 2, lane: 3 };
		out.push(
			...[...rows.values()]
				.filter((r) => r.lane === lane && (r.kind !== "counter" || r.most > 0))
				.sort((a, b) => order[a.kind] - order[b.kind] || a.title.localeCompare(b.title)),
		);
	}
	const incidents = [...rows.values()].flatMap((r) => (r.title === "incidents" ? r.spans : []));
	return {
		rows: out,
		from: from < to ? from : 0,
		to: from < to ? to : 1e6,
		start_unix_ms: trace.otherData?.started_unix_ms ?? 0,
		incidents,
	};
}

/** The first index whose `key` is at least `value`. */
export function lowerBound<T>(list: readonly T[], value: number, key: (item: T) => number): number {
	let low = 0;
	let high = list.length;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (key(list[mid]!) < value) low = mid + 1;
		else high = mid;
	}
	return low;
}

/** What is under a place of a row; a moment is met within `slack`. */
export function spanAt(row: Row, at: number, slack: number): Span | undefined {
	for (
		let i =
			Math.min(
				row.spans.length,
				lowerBound(row.spans, at + slack, (s) => s.from),
			) - 1;
		i >= 0;
		i--
	) {
		const s = row.spans[i]!;
		if (at >= s.from - slack && at <= Math.max(s.to, s.from + slack)) return s;
	}
	return undefined;
}

export function valueAt(row: Row, at: number): number | undefined {
	const i = lowerBound(row.points, at, (p) => p.at);
	return row.points[i === 0 ? 0 : i - 1]?.value;
}

const RATE_US = 10e6;

/** How much it grows in a second, as of the last ten; undefined where it does not, as in the first look of an attempt; between attempts it is 0. */
export function rateAt(row: Row, at: number): number | undefined {
	const of = row.points;
	const to = lowerBound(of, at + 1, (p) => p.at) - 1;
	let from = to;
	while (from > 0 && of[from - 1]!.value > 0 && of[from - 1]!.value <= of[from]!.value && of[to]!.at - of[from]!.at < RATE_US) from--;
	return to > from ? ((of[to]!.value - of[from]!.value) / (of[to]!.at - of[from]!.at)) * 1e6 : undefined;
}

/** A part of the life that was asked for by itself, in microseconds since its begin. */
export interface Part {
	from: number;
	to: number;
}

/**
 * What has to be asked for to show a view as finely as it is told, when `known` is what is there. `whole` long is what was told at
 * first. Undefined: what is there is fine enough.
 */
export function partFor(view: Part, whole: number, known: Part | undefined): Part | undefined {
	const width = view.to - view.from;
	if (width > whole / 2) return undefined;
	if (known && view.from >= known.from && view.to <= known.to && width > (known.to - known.from) / 6) return undefined;
	return { from: Math.max(0, view.from - width / 2), to: Math.min(whole, view.to + width / 2) };
}
