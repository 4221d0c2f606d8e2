// The jobs that the development server shows: recorded ones (fixtures/), moved to the present, and made ones:
// a job of 1,000 ranks, and one whose every text tries to break the page.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HOSTILE } from "./hostile.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "fixtures");
export const fixture = (name) => JSON.parse(readFileSync(join(here, `${name}.json`), "utf8"));

const INCIDENT = new Set(["memory_kill", "error_exit", "hang", "crash", "kernel_oom"]);
const WARNING = new Set(["suspected", "end_others", "memory_warning", "retry", "log_failed"]);
const severity = (kind) => (INCIDENT.has(kind) ? "error" : WARNING.has(kind) ? "warning" : "info");

function shift(value, by) {
	if (Array.isArray(value)) return value.map((v) => shift(v, by));
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(
		Object.entries(value).map(([k, v]) => [
			k,
			k.endsWith("_unix_ms") && typeof v === "number" ? v + by : shift(v, by),
		]),
	);
}

const HEALTH = {
	"llama-pretrain": {
		level: "well",
		sentence: "steps at 2.0/s, as usual",
		advice: [],
		evidence: ["the last step came 0.4 s ago; usual: one in 500 ms"],
	},
	smoke: { level: "ended", sentence: "ended well after 7.9 s", advice: [] },
};

function healthOf(name, job, incident, events) {
	if (!incident) return { schema: "vigil.health/1", ...HEALTH[name] };
	return {
		schema: "vigil.health/1",
		level: incident.kind === "hang" ? "hung" : "died",
		sentence:
			incident.kind === "hang"
				? "rank 2 holds the others up: it reads a pipe that nobody will ever write to"
				: incident.summary,
		...(incident.cause?.text ? { why: incident.cause.text } : {}),
		culprit_ranks: incident.culprit_ranks ?? (incident.victim?.rank !== undefined ? [incident.victim.rank] : []),
		advice: incident.cause?.advice ?? [],
		incident: incident.id,
		since_unix_ms: events.find((e) => e.kind === "suspected")?.time_unix_ms ?? incident.time_unix_ms,
		evidence: (incident.evidence ?? []).slice(0, 5).map((e) => e.text),
	};
}

/** Counters of the recorded timeline by rank: [{rank, times, values}] */
function counters(timeline, name, field, start) {
	const now = Date.now();
	const byRank = new Map();
	for (const e of timeline?.traceEvents ?? []) {
		if (e.ph !== "C" || e.name !== name || e.args?.[field] === undefined || start + e.ts / 1000 > now) continue;
		const key = e.pid;
		if (!byRank.has(key)) byRank.set(key, { rank: key - 10, times: [], values: [] });
		byRank.get(key).times.push(start + e.ts / 1000);
		byRank.get(key).values.push(e.args[field]);
	}
	return [...byRank.values()].filter((s) => s.rank >= 0).sort((a, b) => a.rank - b.rank);
}

function aligned(series, points = 300) {
	const all = series.flatMap((s) => s.times);
	if (all.length === 0) return { times: [], rows: [] };
	const from = Math.min(...all);
	const step = Math.max(200, (Math.max(...all) - from) / points);
	const times = Array.from({ length: Math.floor((Math.max(...all) - from) / step) + 1 }, (_, i) =>
		Math.round(from + i * step),
	);
	const rows = series.map((s) => {
		let at = 0;
		return times.map((t) => {
			while (at + 1 < s.times.length && s.times[at + 1] <= t) at++;
			return s.times[at] > t || t - s.times[s.times.length - 1] > 2000 ? null : s.values[at];
		});
	});
	return { times, rows };
}

function memoryOf(job, timeline, limit) {
	const own = counters(timeline, "memory bytes", "own", job.started_unix_ms);
	const shared = counters(timeline, "memory bytes", "shared", job.started_unix_ms);
	const { times, rows } = aligned(own);
	const common = aligned(shared);
	return {
		schema: "vigil.memory_series/1",
		times,
		series: own.map((s, i) => ({ rank: s.rank, own: rows[i] })),
		shared: times.map((_, i) => Math.max(0, ...common.rows.map((r) => r[i] ?? 0))),
		...(limit ? { limit_bytes: limit, threshold_bytes: Math.round(limit * 0.95) } : {}),
	};
}

const SERIES = { cpu: ["CPU", "cores", "cores"], io: ["IO calls bytes/s", "read", "bytes/s"] };

function seriesOf(job, timeline, what) {
	const known = SERIES[what];
	if (known) {
		const list = counters(timeline, known[0], known[1], job.started_unix_ms);
		const { times, rows } = aligned(list);
		return {
			schema: "vigil.series/1",
			times,
			series: list.map((s, i) => ({ rank: s.rank, label: `rank ${s.rank}`, unit: known[2], values: rows[i] })),
		};
	}
	if (what !== "step" || !job.steps) return { schema: "vigil.series/1", times: [], series: [] };
	const end = job.ended_unix_ms ?? Date.now();
	const times = Array.from({ length: 120 }, (_, i) =>
		Math.round(job.started_unix_ms + ((end - job.started_unix_ms) * i) / 119),
	);
	return {
		schema: "vigil.series/1",
		times,
		series: job.steps
			.slice(0, 4)
			.map((s) => ({
				rank: s.rank,
				unit: "steps/s",
				values: times.map((_, i) => (s.per_s ?? 0) * (1 + 0.08 * Math.sin(i / 3 + s.rank))),
			})),
	};
}

function ranksOf(entry) {
	const steps = new Map((entry.job.steps ?? []).map((s) => [s.rank, s]));
	const culprits = entry.health.culprit_ranks ?? [];
	return entry.processes
		.filter((p) => p.rank !== undefined && p.role === "main")
		.map((p) => ({
			rank: p.rank,
			pid: p.pid,
			node: entry.job.node,
			state: !p.running ? "ended" : entry.health.level === "hung" ? "waiting" : "running",
			own_bytes: p.own_bytes,
			rss_bytes: p.rss_bytes,
			shared_bytes: p.shared_bytes,
			cpu_ratio: p.running ? 0.2 : undefined,
			...(steps.has(p.rank)
				? { step: steps.get(p.rank).step, total: steps.get(p.rank).total, per_s: steps.get(p.rank).per_s }
				: {}),
			...(p.exit_code !== undefined ? { exit_code: p.exit_code } : {}),
			...(p.signal !== undefined ? { signal: p.signal } : {}),
			culprit: culprits.includes(p.rank),
		}));
}

/** The report of a hang has the graph that its verdict had. */
function withWaits(incident, waits) {
	const of = new Map((waits?.processes ?? []).flatMap((p) => p.threads.map((t) => [t.tid, { ...t, role: p.role }])));
	const stacks = (incident.stacks ?? []).map((s) => {
		const t = of.get(s.tid);
		return t ? { ...s, role: t.role, waits_for: { text: t.waiting_on, to: t.arrows } } : s;
	});
	return incident.kind === "hang" ? { ...incident, stacks } : incident;
}

function logsOf(entry, lines) {
	const files = new Map();
	let n = 0;
	for (const [key, list] of Object.entries(lines)) {
		const [rank, stream] = key.split(".");
		files.set(`f${n}`, {
			id: `f${n}`,
			rank: Number(rank),
			stream,
			attempt: 0,
			text: Buffer.from(list.join("\n") + "\n"),
		});
		n++;
	}
	entry.logs = files;
}

function recorded(name, now) {
	const raw = fixture(name);
	const d = {
		...shift(raw, now - raw.recorded_unix_ms),
		timeline: raw.timeline && {
			...raw.timeline,
			otherData: shift(raw.timeline.otherData, now - raw.recorded_unix_ms),
		},
	};
	const running = d.job.state === "running";
	const incidents = d.incident ? [withWaits(d.incident, d.waits)] : [];
	const entry = {
		job: d.job,
		incidents,
		waits: d.waits,
		stacks: d.stack,
		timeline: d.timeline,
		running,
		events: d.events.map((e) => ({ ...e, severity: severity(e.kind) })),
		processes: d.processes.map((p) => ({ start_ticks: p.pid * 7, ...p })),
	};
	entry.health = healthOf(name, d.job, d.incident, entry.events);
	entry.ranks = ranksOf(entry);
	entry.memory = memoryOf(d.job, d.timeline, d.job.limit_bytes ?? d.memory?.limit_bytes);
	entry.series = (what) => seriesOf(d.job, d.timeline, what);
	if (name === "llama-pretrain") {
		for (const key of Object.keys(d.logs))
			d.logs[key] = Array.from(
				{ length: 40_000 },
				(_, i) => `step ${i + 1}/1200 loss=${(3.2 / (1 + i * 0.05)).toFixed(4)}`,
			);
	}
	logsOf(entry, d.logs);
	return entry;
}

export function huge(now, ranks = 1000) {
	const id = "moe-1000-h7q2";
	const started = now - 7_200_000;
	const states = (r) => (r === 617 ? "working" : "waiting");
	const list = Array.from({ length: ranks }, (_, r) => ({
		rank: r,
		pid: 100_000 + r,
		node: `node-${Math.floor(r / 8)}`,
		state: states(r),
		own_bytes: 30e9 + ((r * 7919) % 1000) * 4e6,
		rss_bytes: 40e9,
		shared_bytes: 8e9,
		cpu_ratio: 0.9,
		gpu: [{ index: r % 8, memory_bytes: 70e9, used_ratio: 0.97 }],
		step: 18_230,
		total: 50_000,
		per_s: 0.62,
		culprit: r === 617,
	}));
	const times = Array.from({ length: 600 }, (_, i) => started + i * 12_000);
	const job = {
		schema: "vigil.job/1",
		id,
		name: "moe-1000",
		state: "running",
		command: "python3 train.py --experts 64",
		node: "node-0",
		user: "ann",
		nproc: ranks,
		attempt: 1,
		max_retries: 3,
		started_unix_ms: started,
		memory_kills: 1,
		other_deaths: 0,
		steps: list.slice(0, 8).map((r) => ({ rank: r.rank, step: r.step, total: r.total, per_s: r.per_s })),
	};
	const main = (r) => ({
		pid: 100_000 + r,
		rank: r,
		role: "main",
		main: true,
		name: "python3",
		threads: [
			r === 617
				? {
						tid: 100_617,
						main: true,
						does: "runs",
						end: "runs",
						waiting_on: "runs, at loader.py:88 in decode",
						arrows: [],
					}
				: {
						tid: 100_000 + r,
						main: true,
						does: "waits",
						waiting_on: "all_reduce 18231 of group 0",
						arrows: [
							{ to: { pid: 100_617, rank: 617 }, kind: "collective", quality: "likely", source: "hint" },
						],
					},
		],
	});
	return {
		job,
		running: true,
		incidents: [],
		processes: list.map((r) => ({
			pid: r.pid,
			rank: r.rank,
			role: "main",
			name: "python3",
			running: true,
			own_bytes: r.own_bytes,
			rss_bytes: r.rss_bytes,
			shared_bytes: r.shared_bytes,
			command: job.command,
			started_unix_ms: started,
		})),
		health: {
			schema: "vigil.health/1",
			level: "suspected",
			sentence: "rank 617 holds the others up: it has been decoding one batch for 4 min 10 s",
			culprit_ranks: [617],
			advice: ["look at the file that rank 617 reads: loader.py:88"],
			since_unix_ms: now - 250_000,
			evidence: ["999 ranks wait in all_reduce 18231, rank 617 has not joined"],
		},
		events: [
			{
				schema: "vigil.event/1",
				seq: 900,
				time_unix_ms: started,
				job: id,
				attempt: 0,
				kind: "job_start",
				text: job.command,
				severity: "info",
			},
			{
				schema: "vigil.event/1",
				seq: 901,
				time_unix_ms: now - 250_000,
				job: id,
				attempt: 1,
				kind: "suspected",
				text: "no step for 4 min 10 s (usual: one in 1.6 s)",
				severity: "warning",
			},
		],
		ranks: list,
		waits: {
			schema: "vigil.waits/1",
			captured_unix_ms: now,
			complete: false,
			ends: [
				{
					kind: "runs",
					text: "runs",
					who: "rank 617",
					ranks: [617],
					followers: 999,
					quality: "likely",
					way: "ranks 0-616, 618-999 → rank 617 (runs)",
				},
			],
			processes: list.map((r) => main(r.rank)),
		},
		stacks: {
			schema: "vigil.stacks/1",
			captured_unix_ms: now,
			processes: list.map((r) => ({
				pid: r.pid,
				rank: r.rank,
				role: "main",
				name: "python3",
				threads: [
					{
						tid: r.pid,
						main: true,
						state: "idle",
						waiting_on: r.rank === 617 ? "runs" : "futex",
						frames:
							r.rank === 617
								? [{ name: "decode", file: "/srv/train/loader.py", line: 88, kind: "python" }]
								: [
										{
											name: "all_reduce",
											file: "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py",
											line: 2501,
											kind: "python",
										},
									],
					},
				],
			})),
		},
		timeline: {
			traceEvents: [],
			displayTimeUnit: "ms",
			otherData: { schema: "vigil.timeline/1", started_unix_ms: started },
		},
		memory: {
			schema: "vigil.memory_series/1",
			times,
			limit_bytes: 2e12,
			series: [
				...Array.from({ length: 40 }, (_, r) => ({
					rank: r,
					own: times.map((_, i) => 30e9 + r * 1e8 + i * 1e6),
				})),
				{ name: "others", own: times.map(() => 960 * 31e9) },
			],
			shared: times.map(() => 8e9),
		},
		series: (what) => ({
			schema: "vigil.series/1",
			times: times.slice(0, 200),
			series:
				what === "gpu"
					? Array.from({ length: 40 }, (_, r) => ({
							rank: r,
							unit: "ratio",
							values: times.slice(0, 200).map((_, i) => 0.9 + 0.08 * Math.sin(i / 5 + r)),
						}))
					: [],
		}),
		logs: new Map([
			["f0", { id: "f0", rank: 617, stream: "stdout", attempt: 1, text: Buffer.from("decoding shard 0017\n") }],
		]),
	};
}

export function makeWorld(now = Date.now()) {
	const entries = ["llama-pretrain", "vision-ddp", "bert-finetune", "whisper-eval", "smoke"].map((name) =>
		recorded(name, now),
	);
	entries.push(huge(now), HOSTILE(now));
	const jobs = new Map(entries.map((e) => [e.job.id, e]));
	return { jobs, seq: 1000, doctor: fixture("doctor"), started: now };
}
