// The stream of the development server: what changed, once a second; events with their number as id.
const send = (client, kind, data, id) => {
	client.res.write(`event: ${kind}\n${id !== undefined ? `id: ${id}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
};

const eventsOf = (ctx, job) =>
	[...ctx.world.jobs.values()]
		.filter((e) => !job || e.job.id === job)
		.flatMap((e) => e.events)
		.sort((a, b) => a.seq - b.seq);

export function streamTo(ctx, req, res, query) {
	if (ctx.control.refuseStream) {
		ctx.control.refused++;
		res.writeHead(503, { "Content-Type": "text/plain" });
		return res.end("no");
	}
	res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" });
	const client = {
		res,
		job: query.get("job") ?? undefined,
		topics: new Set((query.get("topics") ?? "").split(",")),
		// As the server's: the last event of all.
		sent: eventsOf(ctx).at(-1)?.seq ?? 0,
	};
	const last = Number(req.headers["last-event-id"]);
	if (Number.isFinite(last) && last > 0) client.sent = last;
	res.write("retry: 500\n\n");
	send(client, "hello", { schema: "vigil.hello/1", now_unix_ms: Date.now(), seq: client.sent }, client.sent);
	news(ctx, client);
	ctx.streams.add(client);
	res.on("close", () => ctx.streams.delete(client));
}

function news(ctx, client) {
	for (const event of eventsOf(ctx, client.job)) {
		if (event.seq <= client.sent) continue;
		if (client.topics.has("events")) send(client, "event", event, event.seq);
		client.sent = event.seq;
	}
}

/** The healthy job goes on: steps, memory that breathes. */
function live(ctx) {
	const entry = [...ctx.world.jobs.values()].find((e) => e.job.name === "llama-pretrain");
	const now = Date.now();
	for (const rank of entry.ranks) {
		rank.step = Math.min(rank.total ?? 1200, (rank.step ?? 0) + 2);
		rank.own_bytes = Math.round(12.8e6 + 4e5 * Math.sin(now / 5000 + rank.rank));
	}
	entry.job.steps = entry.ranks.map((r) => ({ rank: r.rank, step: r.step, total: r.total, per_s: r.per_s }));
	return {
		job: entry.job.id,
		ranks: entry.ranks.map(({ rank, step, own_bytes }) => ({ rank, step, own_bytes })),
		point: {
			job: entry.job.id,
			time_unix_ms: now,
			own: entry.ranks.map((r) => ({ rank: r.rank, own_bytes: r.own_bytes })),
			shared_bytes: 7.1e6,
		},
	};
}

export function tellRanks(ctx, job, ranks) {
	for (const client of ctx.streams)
		if (client.job === job && client.topics.has("ranks"))
			send(client, "ranks", { schema: "vigil.ranks/1", job, ranks });
}

export function tick(ctx) {
	const change = live(ctx);
	tellRanks(ctx, change.job, change.ranks);
	for (const client of ctx.streams) {
		news(ctx, client);
		if (client.job === change.job && client.topics.has("memory"))
			send(client, "memory", { schema: "vigil.memory_point/1", ...change.point });
		if (!client.job && client.topics.has("jobs") && !ctx.control.noJobs) {
			const entry = ctx.world.jobs.get(change.job);
			send(client, "jobs", { schema: "vigil.jobs/1", jobs: [{ ...entry.job, health: entry.health }] });
		}
	}
	const memory = ctx.world.jobs.get(change.job).memory;
	memory.times.push(change.point.time_unix_ms);
	for (const s of memory.series) s.own.push(change.point.own.find((o) => o.rank === s.rank)?.own_bytes ?? null);
	memory.shared.push(change.point.shared_bytes);
}
