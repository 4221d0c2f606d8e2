// The lower part of a job's page: its attempts, its last events, and what it is.
import { bytes, duration, rate, words } from "../format";
import { useNow } from "../hooks";
import { link } from "../route";
import type { Event, IncidentBrief, Job, Me } from "../types";
import { Card, Empty, Fault, When } from "../ui/parts";
import { EventList, type useEvents } from "./events";
import { goes, level, running } from "../health";

export function Attempts({
	job,
	events,
	incidents,
	now,
}: {
	job: Job;
	events: Event[];
	incidents: IncidentBrief[];
	now: number;
}) {
	const starts = events
		.filter((e) => e.kind === "attempt_start" || e.kind === "job_start")
		.sort((a, b) => a.seq - b.seq);
	const byAttempt = new Map(starts.map((e) => [e.attempt ?? 0, e]));
	const numbers = [...new Set([...byAttempt.keys(), ...incidents.map((i) => i.attempt ?? 0)])].sort((a, b) => b - a);
	if (numbers.length === 0) return <Empty>No attempt has begun.</Empty>;
	return (
		<ol class="attempts">
			{numbers.map((n) => {
				const own = incidents.filter((i) => (i.attempt ?? 0) === n);
				return (
					<li key={n}>
						<b>Attempt {n}</b>{" "}
						<small>
							{byAttempt.get(n) && (
								<>
									began <When ms={byAttempt.get(n)!.time_unix_ms} now={now} />
								</>
							)}
							{n === (job.attempt ?? 0)
								? running(job)
									? { waiting: " · ended", unseen: "" }[level(job) as string] ?? " · runs"
									: `${level(job) === "stopped" ? " · stopped" : ""} · exit status ${job.exit_status ?? "unknown"}`
								: ""}
						</small>
						{own.map((i) => (
							<a key={i.id} class="increment" href={link(["incident", i.id])}>
								<small>
									<When ms={i.time_unix_ms} now={now} /> · {words(i.kind)}
								</small>
								<span>{i.summary}</span>
							</a>
						))}
					</li>
				);
			})}
		</ol>
	);
}

export function Happenings({ job, list }: { job: Job; list: ReturnType<typeof useEvents> }) {
	const now = useNow(10_000);
	return (
		<Card title="Last events" side={<a href={link(["job", job.id, "events"])}>all events</a>}>
			{list.load.error && !list.load.data && <Fault error={list.load.error} what="Events" />}
			{list.all.length === 0 ? (
				<Empty>Nothing has happened yet.</Empty>
			) : (
				<EventList events={list.all.slice(0, 8)} now={now} job={job.id} />
			)}
		</Card>
	);
}

export function Details({ job, me }: { job: Job; me: Me | undefined }) {
	// The same one whose steps the verdict tells.
	const slowest = job.steps?.reduce((a, b) => (b.step < a.step ? b : a), job.steps[0]!);
	return (
		<Card title="The job">
			<dl class="facts wide">
				<div>
					<dt>command</dt>
					<dd>
						<code>{job.command}</code>
					</dd>
				</div>
				{job.cwd && (
					<div>
						<dt>folder</dt>
						<dd>
							<code>{job.cwd}</code>
						</dd>
					</div>
				)}
				{job.user && (
					<div>
						<dt>user</dt>
						<dd>{job.user}</dd>
					</div>
				)}
				{job.limit_bytes !== undefined && (
					<div>
						<dt>memory limit</dt>
						<dd>{bytes(job.limit_bytes)}</dd>
					</div>
				)}
				{job.peak_bytes !== undefined && (
					<div>
						<dt>peak</dt>
						<dd>{bytes(job.peak_bytes)}</dd>
					</div>
				)}
				{job.started_unix_ms !== undefined && job.ended_unix_ms !== undefined && (
					<div>
						<dt>ran for</dt>
						<dd>{duration(job.ended_unix_ms - job.started_unix_ms)}</dd>
					</div>
				)}
				{goes(job) && slowest?.per_s !== undefined && (
					<div>
						<dt>steps</dt>
						<dd>{rate(slowest.per_s)}</dd>
					</div>
				)}
			</dl>
			{me?.role === "viewer" && <p class="meta">You may look; profiles need the role operator.</p>}
		</Card>
	);
}
