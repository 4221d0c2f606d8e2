// What stands above every page of one job: its name, its health, and the ways to its other pages.
import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { withAttempt, withHealth } from "../adapt";
import { jobPath } from "../api";
import { duration, lasting } from "../format";
import { useGone, useLoad, useNews, useSeenNow, useWanted, type Loaded } from "../hooks";
import { link, type Route } from "../route";
import type { Event, Health, Job } from "../types";
import { Badge, Fault, Skeleton } from "../ui/parts";
import { asSeen, level, running } from "../health";

const JobContext = createContext<{ job: Job; load: Loaded<Job> } | undefined>(undefined);

export function useJob(): { job: Job; load: Loaded<Job> } {
	const value = useContext(JobContext);
	if (!value) throw new Error("outside of a job's frame");
	return value;
}

const TABS: [string, string][] = [
	["", "Health"],
	["logs", "Logs"],
	["events", "Events"],
	["processes", "Processes"],
	["profiles", "Profiles"],
	["timeline", "Timeline"],
];

function Tabs({ route }: { route: Route }) {
	const here = route.page === "job" ? "" : route.page === "process" ? "processes" : route.page;
	return (
		<nav class="tabs" aria-label="Job">
			{TABS.map(([path, text]) => (
				<a
					key={path}
					href={link(["job", route.job!, ...(path ? [path] : [])])}
					aria-current={here === path ? "page" : undefined}>
					{text}
				</a>
			))}
		</nav>
	);
}

/** Pages whose content has no heading of its own. */
const HEADINGS: Partial<Record<Route["page"], string>> = {
	logs: "Logs",
	events: "Events",
	processes: "Processes",
	profiles: "Profiles",
	timeline: "Timeline",
};

function Title({ job }: { job: Job }) {
	const now = useSeenNow(1000);
	const life = level(job) === "waiting"
		? "waits for its next attempt"
		: running(job)
		? `${level(job) === "unseen" ? "was running" : "running"} for ${lasting(now - (job.started_unix_ms ?? now))}`
		: `ran for ${duration((job.ended_unix_ms ?? now) - (job.started_unix_ms ?? now))}`;
	return (
		<div class="jobtitle">
			<p class="crumb">
				<a href="#/">Jobs</a> <span aria-hidden="true">›</span> <b>{job.name}</b> <small>{job.id}</small>
			</p>
			<p class="meta">
				<Badge level={level(job)} /> {life}
				{job.node ? ` on ${job.node}` : ""}
				{job.max_retries
					? ` · ${job.attempt ? `retry ${job.attempt}` : "0 retries"} of at most ${job.max_retries}`
					: job.attempt
						? ` · attempt ${job.attempt}`
						: ""}
			</p>
		</div>
	);
}

export function JobFrame({ route, children }: { route: Route; children: ComponentChildren }) {
	useWanted(route.job, ["health", "ranks", "memory", "events", "profiles"]);
	const load = useLoad<Job>(jobPath(route.job!));
	useNews((kind, data: Health & { state?: string; jobs?: Job[] }) => {
		if (kind === "health")
			load.set((old) => (old && (data.job === undefined || data.job === old.id) ? withHealth(old, data) : old));
		if (kind === "jobs")
			load.set((old) => {
				const fresh = data.jobs?.find((j) => j.id === old?.id);
				return old && fresh ? { ...old, ...fresh } : old;
			});
		if (kind === "event") {
			const event = data as unknown as Event;
			load.set((old) => old && withAttempt(old, event));
			if (["job_end", "attempt_start"].includes(event.kind)) load.reload();
		}
	}, (first) => first || load.reload());
	const gone = useGone();
	const job = load.data && asSeen(load.data, gone);
	return (
		<>
			{job ? (
				<Title job={job} />
			) : (
				<p class="crumb">
					<a href="#/">Jobs</a> <span aria-hidden="true">›</span> <b>{route.job}</b>
				</p>
			)}
			<Tabs route={route} />
			{HEADINGS[route.page] && (
				<h1 class="hidden">
					{HEADINGS[route.page]} of {load.data?.name ?? route.job}
				</h1>
			)}
			{load.error && <Fault error={load.error} what="Job" />}
			{job ? (
				<JobContext.Provider value={{ job, load }}>{children}</JobContext.Provider>
			) : load.loading ? (
				<Skeleton what="Job" />
			) : null}
			{!load.data && route.page === "job" && <h1 class="hidden">{route.job}</h1>}
		</>
	);
}
