// The answers of the development server.
import { fixture } from "./world.mjs";

const fault = (status, error, text) => ({ status, body: { schema: "vigil.error/1", error, text } });
const absent = (what) => fault(404, "absent", `There is no ${what}.`);
const ok = (body) => ({ status: 200, body });

function eventsAnswer(list, query) {
	const kinds = query.get("kind")?.split(",");
	const limit = Number(query.get("limit") ?? 200);
	let events = list.filter((e) => !kinds || kinds.includes(e.kind)).sort((a, b) => a.seq - b.seq);
	if (query.has("after")) events = events.filter((e) => e.seq > Number(query.get("after")));
	if (query.has("before")) events = events.filter((e) => e.seq < Number(query.get("before")));
	if (query.get("order") === "desc") events.reverse();
	const part = events.slice(0, limit);
	return ok({
		schema: "vigil.events/1",
		...(query.get("order") === "desc" ? { newest: Math.max(0, ...list.map((e) => e.seq)) } : {}),
		events: part,
		more: events.length > limit,
		...(events.length > limit ? { next: part[part.length - 1].seq } : {}),
	});
}

function logLines(text, from, most) {
	const lines = [];
	let at = from;
	while (at < text.length && at - from < most) {
		const end = text.indexOf(10, at);
		const stop = end < 0 ? text.length : end;
		lines.push({ at, text: text.subarray(at, stop).toString("utf8") });
		at = stop + 1;
	}
	return { lines, next: Math.min(at, text.length) };
}

function logSearch(file, query) {
	const text = file.text;
	const needle = Buffer.from(query.get("search"));
	const back = query.get("direction") === "back";
	const matches = [];
	let at = back
		? text.lastIndexOf(needle, Number(query.get("offset") ?? text.length))
		: text.indexOf(needle, Number(query.get("offset") ?? 0));
	while (at >= 0 && matches.length < 200) {
		const start = text.lastIndexOf(10, at) + 1;
		matches.push(logLines(text, start, 1).lines[0]);
		at = back
			? start === 0
				? -1
				: text.lastIndexOf(needle, start - 1)
			: text.indexOf(needle, text.indexOf(10, at));
	}
	return ok({ schema: "vigil.logpart/1", size: text.length, matches, ...(at >= 0 ? { next: at } : {}) });
}

function logAnswer(entry, id, query) {
	const file = entry.logs.get(id);
	if (!file) return absent("such log");
	if (query.get("download")) return { text: file.text.toString("utf8"), attachment: "log.txt" };
	if (query.get("search")) return logSearch(file, query);
	let offset = Number(query.get("offset") ?? 0);
	if (offset < 0) offset = Math.max(0, file.text.length + offset);
	if (offset > 0) offset = file.text.lastIndexOf(10, offset - 1) + 1;
	const { lines, next } = logLines(file.text, offset, Number(query.get("limit") ?? 65536));
	return ok({ schema: "vigil.logpart/1", offset, next, size: file.text.length, lines });
}

function momentAnswer(entry, time) {
	const m = entry.memory;
	let at = m.times.findIndex((t) => t > time) - 1;
	if (at < 0) at = m.times.length - 1;
	const near = entry.incidents[0];
	return ok({
		schema: "vigil.moment/1",
		time_unix_ms: time,
		memory: m.series
			.map((s) => ({
				...(s.rank !== undefined ? { rank: s.rank } : { name: s.name }),
				own_bytes: s.own[at] ?? undefined,
			}))
			.filter((s) => s.own_bytes),
		ranks: entry.ranks.map(({ exit_code, signal, ...r }) => ({
			...r,
			...(near && time < near.time_unix_ms ? { state: "running" } : { exit_code, signal }),
			own_bytes: m.series.find((s) => s.rank === r.rank)?.own[at] ?? r.own_bytes,
		})),
		events: entry.events.filter((e) => Math.abs(e.time_unix_ms - time) < 300_000),
		...(near ? { incident: near.id, incident_unix_ms: near.time_unix_ms } : {}),
		...(near?.kind === "hang" && near.time_unix_ms - near.hang.standstill_ms <= time
			? {
					hang: {
						incident: near.id,
						since_unix_ms: near.time_unix_ms - near.hang.standstill_ms,
						text: near.cause.text,
						culprit_ranks: near.culprit_ranks,
					},
				}
			: {}),
	});
}

function nodeAnswer() {
	return ok({
		schema: "vigil.node/1",
		name: "node-1",
		head: true,
		above_80: true,
		memory: {
			total_bytes: 25276502016,
			used_bytes: 21e9,
			available_bytes: 4276502016,
			ratio: 21e9 / 25276502016,
			components: [
				{ name: "job moe-1000", bytes: 12e9 },
				{ name: "job llama-pretrain", bytes: 5e9 },
				{ name: "shared memory", bytes: 2e9 },
				{ name: "kernel", bytes: 1.2e9 },
				{ name: "other", bytes: 0.8e9 },
			],
		},
		gpus: [
			{
				index: 0,
				name: "NVIDIA H100",
				vendor: "nvidia",
				busy_ratio: 0.97,
				memory_used_bytes: 70e9,
				memory_total_bytes: 85e9,
				temperature_c: 61,
				processes: [{ job: "moe-1000-h7q2", rank: 0, pid: 100000, memory_bytes: 69e9 }],
			},
			{ index: 1, name: "NVIDIA H100", vendor: "nvidia", lost: true },
		],
		pressure: [
			{ kind: "memory", some_ratio: 0.12, full_ratio: 0.03 },
			{ kind: "io", some_ratio: 0.01, full_ratio: 0 },
		],
		jobs: [{ job: "moe-1000-h7q2", name: "moe-1000", own_bytes: 12e9, processes: 1000 }],
	});
}

const FORMATS = {
	flame: ["json", "speedscope", "folded", "svg", "pprof", "html"],
	stack: ["json", "speedscope", "folded", "svg", "pprof", "html"],
	heap: ["json", "speedscope", "folded", "svg", "pprof", "html"],
	calls: ["json", "pstats", "html", "table"],
};

function refresh(p) {
	if (p.state !== "running") return p;
	p.progress = Math.min(1, (Date.now() - p.started_unix_ms) / p.lasts_ms);
	if (p.progress >= 1) Object.assign(p, { state: "done", formats: FORMATS[p.kind], bytes: 11_000 });
	return p;
}

const shown = (p) => {
	const { lasts_ms, ...rest } = refresh(p);
	return { schema: "vigil.profile/1", ...rest };
};

function startProfile(ctx, body) {
	if (!body || !FORMATS[body.kind])
		return fault(
			400,
			"bad_request",
			`"kind" is ${JSON.stringify(body?.kind)}; it has to be stack, flame, heap or calls.`,
		);
	if (ctx.control.role === "viewer")
		return fault(403, "role", "Your role is viewer; starting a profile needs operator.");
	const id = `p${ctx.profileSeq++}`;
	const entry = ctx.world.jobs.get(body.job);
	if (!entry) return absent("such job");
	const seconds = Math.min(600, Math.max(1, body.seconds ?? 5));
	// Short recordings of the tests are not waited for in full.
	const lasts = body.kind === "stack" ? 0 : seconds > 60 ? seconds * 1000 : Math.min(seconds * 1000, 1200);
	ctx.profiles.set(id, {
		id,
		kind: body.kind,
		state: "running",
		progress: 0,
		started_unix_ms: Date.now(),
		lasts_ms: lasts,
		job: body.job,
		rank: body.rank,
		pid: body.pid,
	});
	return { status: 202, body: shown(ctx.profiles.get(id)) };
}

/** A recording as speedscope reads it, all threads in one. */
function asSpeedscope({ meta, frames, nodes }) {
	const stackOf = (node) => {
		const up = node.parent === undefined ? [] : stackOf(nodes[node.parent]);
		return node.frame === undefined ? up : [...up, node.frame];
	};
	const spent = (n) => (n.running_ns ?? 0) + (n.idle_ns ?? 0);
	const seen = nodes.filter((n) => n.frame !== undefined && spent(n) > 0);
	const weights = seen.map(spent);
	const endValue = weights.reduce((a, b) => a + b, 0);
	const name = meta?.title ?? "flame";
	return {
		$schema: "https://www.speedscope.app/file-format-schema.json",
		name,
		shared: { frames: frames.map(({ name, file, line }) => ({ name, file, line })) },
		profiles: [
			{ type: "sampled", name, unit: "nanoseconds", startValue: 0, endValue, samples: seen.map(stackOf), weights },
		],
	};
}

function profileData(ctx, p, format) {
	const names = { flame: Number(p.id.slice(1)) % 2 ? "flame-b" : "flame-a", heap: "heap", calls: "calls" };
	if (format === "speedscope") return ok(asSpeedscope(fixture(names[p.kind])));
	if (format !== "json") return { text: `${p.kind} ${format}\n`, attachment: `${p.kind}.${format}` };
	if (p.kind === "flame" && ctx.control.bigFlame) return ok(bigFlame(ctx.control.bigFlame));
	return ok(p.kind === "stack" ? ctx.world.jobs.get(p.job).stacks : fixture(names[p.kind]));
}

/** A recording of so many nodes. */
export function bigFlame(n) {
	const frames = Array.from({ length: 2000 }, (_, i) => ({
		kind: i % 3 ? "python" : "native",
		name: `function_${i}`,
		file: `/srv/train/module_${i % 50}.py`,
		line: i,
	}));
	const nodes = [{ lane: 0 }];
	const open = [0];
	for (let i = 1; i < n; i++) {
		const parent = open[(i * 7919) % open.length];
		nodes.push({ parent, frame: (i * 31) % 2000, running: 1, running_ns: 10_000_000 });
		if (open.length < 5000) open.push(i);
		else open[(i * 104_729) % 5000] = i;
	}
	return {
		schema: "vigil.flame/1",
		meta: { title: "a large one", samples: n, duration_ns: 5e9 },
		lanes: [{ pid: 1, tid: 1, rank: 0, thread: "python3" }],
		frames,
		nodes,
	};
}

function profileAnswer(ctx, method, parts, query, body) {
	if (parts.length === 1 && method === "POST") return startProfile(ctx, body);
	if (parts.length === 1)
		return ok({
			schema: "vigil.profiles/1",
			profiles: [...ctx.profiles.values()]
				.filter((p) => !query.get("job") || p.job === query.get("job"))
				.map(shown),
		});
	const p = ctx.profiles.get(parts[1]);
	if (!p) return absent("such profile");
	if (method === "DELETE") {
		if (refresh(p).state === "running") p.state = "cancelled";
		else ctx.profiles.delete(p.id);
		return { status: 204 };
	}
	return parts[2] === "data" ? profileData(ctx, p, query.get("format")) : ok(shown(p));
}

const LETTERS = { working: "R", running: "S", waiting: "D", stopped: "T", ended: "e" };

function gridOf(rows) {
	const ranks = [];
	for (const { rank } of rows) {
		if (ranks.at(-1)?.[1] === rank - 1) ranks.at(-1)[1] = rank;
		else ranks.push([rank, rank]);
	}
	const letter = (r) => (r.state === "ended" && (r.signal || r.exit_code) ? "x" : (LETTERS[r.state] ?? "?"));
	return { ranks, states: rows.map(letter).join(""), culprits: rows.filter((r) => r.culprit).map((r) => r.rank) };
}

function jobAnswer(ctx, entry, method, rest, query, body) {
	const [what, id] = rest;
	if (method === "POST" && what === "signal")
		return ctx.control.role === "admin"
			? ((ctx.control.signal = body), { status: 204 })
			: fault(403, "role", "Signals need the role admin.");
	if (what === undefined) return ok({ ...entry.job, incidents: entry.incidents, health: entry.health });
	const simple = {
		ranks: () => {
			const rows = entry.ranks.slice(Number(query.get("from") ?? 0)).slice(0, Number(query.get("limit") ?? 1000));
			const total = entry.ranks.length;
			return query.has("grid_over") && total > Number(query.get("grid_over"))
				? ok({ schema: "vigil.ranks/1", ranks: [], grid: gridOf(rows), total })
				: ok({ schema: "vigil.ranks/1", ranks: rows, total });
		},
		processes: () => ok({ schema: "vigil.processes/1", processes: entry.processes }),
		memory: () => ok(entry.memory),
		series: () => ok(entry.series(query.get("what"))),
		events: () => eventsAnswer(entry.events, query),
		timeline: () => {
			const { otherData, ...trace } = entry.timeline;
			const thinned = ctx.control.thinned && !query.has("from") ? { left_out: ctx.control.thinned } : {};
			return ok({ ...trace, otherData: { ...otherData, ...thinned } });
		},
		at: () => momentAnswer(entry, Number(query.get("time"))),
		incidents: () =>
			ok({
				schema: "vigil.incidents/1",
				incidents: entry.incidents.map(({ id: i, kind, time_unix_ms, attempt, summary, cause }) => ({
					id: i,
					kind,
					time_unix_ms,
					attempt,
					summary,
					cause,
				})),
			}),
		waits: () =>
			entry.running && entry.waits
				? ok(entry.waits)
				: fault(409, "ended", "The job has ended; nobody waits any more."),
		stacks: () =>
			entry.running && entry.stacks
				? ok(entry.stacks)
				: fault(409, "ended", "The job has ended; its stacks are in its reports."),
		logs: () =>
			id
				? logAnswer(entry, id, query)
				: ok({
						schema: "vigil.logfiles/1",
						files: [...entry.logs.values()].map(({ text, ...f }) => ({ ...f, bytes: text.length })),
					}),
	};
	return Object.hasOwn(simple, what) ? simple[what]() : absent("such part of a job");
}

export async function answer(ctx, method, path, query, body) {
	const parts = path.split("/").map(decodeURIComponent);
	const jobs = [...ctx.world.jobs.values()];
	switch (parts[0]) {
		case "me":
			return ok({
				schema: "vigil.me/1",
				role: ctx.control.role,
				user: "ann",
				version: "dev",
				node: "node-1",
				now_unix_ms: Date.now(),
			});
		case "jobs":
			if (parts.length === 1)
				return ok({
					schema: "vigil.jobs/1",
					jobs: ctx.control.noJobs ? [] : jobs.map((e) => ({ ...e.job, health: e.health })),
					total: jobs.length,
				});
			return ctx.world.jobs.has(parts[1])
				? jobAnswer(ctx, ctx.world.jobs.get(parts[1]), method, parts.slice(2), query, body)
				: absent("such job");
		case "events":
			return eventsAnswer(
				jobs.flatMap((e) => e.events),
				query,
			);
		case "incidents": {
			const incident = jobs.flatMap((e) => e.incidents).find((i) => i.id === parts[1]);
			return incident ? ok(incident) : absent("such report");
		}
		case "node":
			return nodeAnswer();
		case "doctor":
			return ok(ctx.world.doctor);
		case "profiles":
			return profileAnswer(ctx, method, parts, query, body);
		default:
			return absent("such route");
	}
}
