// All jobs by health, those that need somebody first, and the last incidents.
import { useEffect, useState } from "preact/hooks";
import { JOBS, LAST_INCIDENTS } from "../ahead";
import { get } from "../api";
import { ago, bytes, count, duration, lasting, rate, tellsSteps, timeLeft, words } from "../format";
import { asSeen, goes, groupJobs, headline, level, running, sentenceAt } from "../health";
import { useGone, useLoad, useNews, useNow } from "../hooks";
import { link } from "../route";
import type { Event, Job } from "../types";
import { Badge, Card, Empty, Show, When } from "../ui/parts";

interface JobsAnswer {
	jobs: Job[];
	next?: string;
	total?: number;
}

export function stepText(job: Job): string {
	const steps = job.steps ?? [];
	if (steps.length === 0) return "";
	const slowest = steps.reduce((a, b) => (b.step < a.step ? b : a));
	const left = goes(job) ? timeLeft(slowest.step, slowest.total, slowest.per_s) : undefined;
	const parts = [`step ${count(slowest.step)}${slowest.total ? ` of ${count(slowest.total)}` : ""}`];
	if (goes(job) && slowest.per_s) parts.push(rate(slowest.per_s));
	if (left !== undefined) parts.push(`${duration(left)} left`);
	return parts.join(" · ");
}

function JobRow({ job, now, seen = now }: { job: Job; now: number; seen: number | undefined }) {
	const life = running(job)
		? `for ${lasting(seen - (job.started_unix_ms ?? seen))}`
		: job.ended_unix_ms !== undefined
			? `ended ${ago(job.ended_unix_ms, now)}`
			: "";
	const told = running(job) && tellsSteps(job.health?.sentence);
	const facts = [
		life,
		// Of one process it is not known here what that starts.
		job.nproc && job.nproc > 1 ? `${job.nproc} ranks` : "",
		told ? "" : stepText(job),
		job.peak_bytes && !running(job) ? `peak ${bytes(job.peak_bytes)}` : "",
	].filter(Boolean);
	return (
		<li>
			<a class="jobrow" href={link(["job", job.id])}>
				<span class="rowtop">
					<Badge level={level(job)} />
					<b class="name">{job.name}</b>
					<small class="id">{job.id}</small>
				</span>
				<span class="sentence">{job.health ? sentenceAt(job.health, now) : job.state}</span>
				<small class="meta">{facts.join(" · ")}</small>
			</a>
		</li>
	);
}

function mergeJobs(have: JobsAnswer | undefined, news: Job[]): JobsAnswer | undefined {
	if (!have) return have;
	const byId = new Map(news.map((j) => [j.id, j]));
	const jobs = have.jobs.map((j) => {
		const fresh = byId.get(j.id);
		byId.delete(j.id);
		return fresh ? { ...j, ...fresh } : j;
	});
	return { ...have, jobs: [...byId.values(), ...jobs] };
}

function LastIncidents({ now }: { now: number }) {
	const events = useLoad<{ events: Event[]; newest?: number }>(...LAST_INCIDENTS);
	const newest = events.data?.newest;
	// A stream says which event it begins behind: what came before that and after the list, which may be late, is in neither.
	const [begun, setBegun] = useState(0);
	useEffect(() => {
		if (begun > newest!) events.reload();
	}, [begun, newest]);
	useNews((kind, data: Event) => {
		if (kind === "hello") setBegun(data.seq);
		if (kind === "event" && data.incident) events.reload();
	}, () => {});
	return (
		<Card title="Last incidents">
			<Show of={events} what="Incidents">
				{({ events: list }) =>
					list.length === 0 ? (
						<Empty>No incident so far.</Empty>
					) : (
						<ul class="rows">
							{list.map((e) => (
								<li key={e.seq}>
									<a
										class="increment"
										href={e.incident ? link(["incident", e.incident]) : link(["job", e.job ?? ""])}>
										<small>
											<When ms={e.time_unix_ms} now={now} /> · {words(e.kind)} · {e.job}
										</small>
										<span>{e.text}</span>
									</a>
								</li>
							))}
						</ul>
					)
				}
			</Show>
		</Card>
	);
}

export function Overview() {
	const jobs = useLoad<JobsAnswer>(...JOBS);
	const now = useNow(5000);
	const gone = useGone();
	const [busy, setBusy] = useState(false);
	useNews((kind, data: { jobs?: Job[] }) => {
		if (kind === "jobs" && data.jobs) jobs.set((old) => mergeJobs(old, data.jobs!));
		if (kind === "health") jobs.set((old) => healthInto(old, data as never));
	}, (first) => first || jobs.reload());
	const more = async () => {
		setBusy(true);
		try {
			const next = await get<JobsAnswer>("jobs", { limit: 50, before: jobs.data?.next });
			jobs.set(
				(old) =>
					old && {
						jobs: [...old.jobs, ...next.jobs.filter((j) => !old.jobs.some((o) => o.id === j.id))],
						...(next.next ? { next: next.next } : {}),
						...(old.total !== undefined ? { total: old.total } : {}),
					},
			);
		} finally {
			setBusy(false);
		}
	};
	return (
		<Show of={jobs} what="Jobs">
			{(data) => (
				<div class="overview">
					<div>
						<h1>{headline(data.jobs, now, gone)}</h1>
						{data.jobs.length === 0 && (
							<Empty>
								No jobs yet. Start one with <code>vigil run -- python train.py</code>.
							</Empty>
						)}
						{groupJobs(data.jobs.map((j) => asSeen(j, gone))).map((group) => (
							<Card key={group.title} title={group.title} side={<small>{group.jobs.length}</small>}>
								<ul class="rows">
									{group.jobs.map((j) => (
										<JobRow key={j.id} job={j} now={now} seen={gone} />
									))}
								</ul>
							</Card>
						))}
						{data.next && (
							<button type="button" onClick={more} disabled={busy}>
								Older jobs{data.total ? ` (${count(data.total)} in all)` : ""}
							</button>
						)}
					</div>
					<LastIncidents now={now} />
				</div>
			)}
		</Show>
	);
}

function healthInto(have: JobsAnswer | undefined, health: { job?: string }): JobsAnswer | undefined {
	if (!have || health.job === undefined) return have;
	return { ...have, jobs: have.jobs.map((j) => (j.id === health.job ? { ...j, health: health as never } : j)) };
}
