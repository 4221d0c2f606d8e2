// A job whose texts were written by somebody who wants to break the page or its reader.
const BAD = [
	'<img src=x onerror="window.__broken=1">',
	"<script>window.__broken=1</script>",
	"javascript:window.__broken=1",
	"\u202Egnp.exe\u202C",
	"a\u0000b\u0007\u001b[31mred",
	"A".repeat(3000),
	"𝕏̸̢͎̙̻̈́̈".repeat(20),
	"'\"><svg/onload=window.__broken=1>",
	"%00%2e%2e%2f",
	"${window.__broken=1}{{7*7}}",
];
const text = (i) => BAD[i % BAD.length];

export function HOSTILE(now) {
	const id = "hostile-<b>&\"'/..%2f-x9";
	const started = now - 60_000;
	const ranks = BAD.map((_, i) => ({
		rank: i,
		pid: 5000 + i,
		node: text(i),
		state: i === 0 ? "<b>" : "running",
		own_bytes: i === 1 ? -5 : 1e6 * i,
		culprit: i === 2,
		step: i,
		total: 0,
		per_s: NaN,
	}));
	const frames = BAD.map((t) => ({ name: t, file: t, line: 1, kind: t, module: t }));
	const incident = {
		schema: "vigil.incident/1",
		id: 'hostile"><i>.1',
		job: id,
		attempt: 0,
		kind: "crash",
		time_unix_ms: now - 1000,
		node: text(1),
		summary: text(0),
		cause: { id: text(0), confidence: text(1), text: text(7), advice: BAD },
		culprit_ranks: [2],
		victim: { pid: 5002, rank: 2, name: text(0), command: text(5) },
		killer: "signal",
		killer_text: text(1),
		evidence: BAD.map((t) => ({ kind: t, text: t, source: t })),
		stacks: BAD.map((t, i) => ({ rank: i, pid: 5000 + i, thread: t, waiting_on: t, frames })),
		hang: { resolved: false, groups: BAD.map((t) => ({ ranks: t, count: 1, activity: t, frames: BAD })) },
		top: BAD.map((t, i) => ({ pid: i, name: t, own_bytes: i, command: t })),
		memory: { ratio: 7, threshold_ratio: -1, level: text(0) },
	};
	return {
		running: true,
		incidents: [incident],
		job: {
			schema: "vigil.job/1",
			id,
			name: text(0),
			state: "running",
			command: text(5),
			cwd: text(0),
			node: text(4),
			user: text(1),
			nproc: BAD.length,
			started_unix_ms: started,
			steps: [],
		},
		health: {
			schema: "vigil.health/1",
			level: "<b>hung</b>",
			sentence: BAD.slice(0, 5).join(" "),
			why: BAD.join(" "),
			culprit_ranks: [2],
			advice: BAD,
			incident: incident.id,
			since_unix_ms: now,
			evidence: BAD,
		},
		events: BAD.map((t, i) => ({
			schema: "vigil.event/1",
			seq: 700 + i,
			time_unix_ms: now - 1000 * i,
			job: id,
			attempt: 0,
			kind: t.slice(0, 40),
			text: t,
			severity: i % 2 ? "error" : t,
			...(i === 0 ? { incident: incident.id } : {}),
		})),
		processes: BAD.map((t, i) => ({
			pid: 5000 + i,
			rank: i,
			role: t,
			name: t,
			command: t,
			running: true,
			own_bytes: 1,
		})),
		ranks,
		waits: { schema: "vigil.waits/1", ends: BAD.map((t) => ({ kind: t, text: t, way: t })), processes: [] },
		stacks: {
			schema: "vigil.stacks/1",
			processes: BAD.map((t, i) => ({
				pid: 5000 + i,
				rank: i,
				name: t,
				threads: [{ tid: i, main: true, name: t, waiting_on: t, frames }],
			})),
		},
		timeline: {
			traceEvents: BAD.map((t, i) => ({
				ph: "X",
				name: t,
				pid: i,
				tid: i,
				ts: i * 1e6,
				dur: 1e6,
				cat: t,
				args: { text: t },
			})),
			otherData: { started_unix_ms: started },
		},
		memory: {
			schema: "vigil.memory_series/1",
			times: [started, now],
			series: [{ name: text(0), own: [1, 2] }],
			shared: [0, 0],
		},
		series: () => ({
			schema: "vigil.series/1",
			times: [started, now],
			series: [{ label: text(0), unit: text(1), values: [1, 2] }],
		}),
		logs: new Map([
			[
				"f0",
				{
					id: "f0",
					rank: 0,
					stream: text(0),
					attempt: 0,
					text: Buffer.from(BAD.join("\n").replace(/\u0000/g, "?") + "\n"),
				},
			],
		]),
	};
}
