// How jobs are, as the page sorts and sums them up. Pure.
import { ago, clock, lasting } from "./format";
import type { Health, Job, Shown } from "./types";

const URGENT = ["hung", "memory", "suspected", "slow", "died", "waiting", "lost"];

export const running = (job: Job) => job.state === "running" || job.state === "starting" || job.state === "waiting";
/** What it is shown as: one that its user stopped is "stopped", one that died and is to be started again "waiting". */
export const level = (job: Job): Shown =>
	job.state === "waiting" && job.health?.level === "died" ? "waiting" : shownLevel(job.health);
const shownLevel = (health: Health | undefined): Shown => (health?.stopped ? "stopped" : (health?.level ?? "unknown"));

/** A job that ran when the server was last heard: how it is now is not known. `seen` undefined: the server is there. */
export function asSeen(job: Job, seen: number | undefined): Job {
	if (seen === undefined || !running(job)) return job;
	const sentence = `as last seen at ${clock(seen)}: ${job.health?.sentence ?? job.state}`;
	return { ...job, health: { ...job.health, level: "unseen", sentence } };
}

/** What is told of a job. How long it stands is told by the server in tens of seconds; here it agrees with the clock. */
export const sentenceAt = ({ level, sentence, since_unix_ms: since }: Health, now: number): string =>
	level === "hung" && since ? sentence.replace(/(still for )\S+ \w+( \d\d \w)?/, `$1${lasting(now - since)}`) : sentence;

const byEnd = (a: Job, b: Job) => (b.ended_unix_ms ?? 0) - (a.ended_unix_ms ?? 0);

export function groupJobs(jobs: Job[]): { title: string; jobs: Job[] }[] {
	const urgent = jobs
		.filter((j) => running(j) && URGENT.includes(level(j)))
		.sort((a, b) => URGENT.indexOf(level(a)) - URGENT.indexOf(level(b)));
	const well = jobs.filter((j) => running(j) && !urgent.includes(j));
	const over = jobs.filter((j) => !running(j)).sort(byEnd);
	const died = over.filter((j) => !["ended", "well", "stopped"].includes(level(j)));
	const ended = over.filter((j) => !died.includes(j));
	return [
		{ title: "Needs you", jobs: urgent },
		{ title: well.some((j) => level(j) === "unseen") ? "Last seen running" : "Running", jobs: well },
		{ title: "Died or lost", jobs: died },
		{ title: "Ended", jobs: ended },
	].filter((g) => g.jobs.length > 0);
}

/** A death is news for so long. */
const NEWS_MS = 24 * 3600_000;

/** The last job that died or was lost, unless one of its name came after it. Newest jobs come first. */
function lastDeath(jobs: Job[], now: number): Job | undefined {
	const newest = jobs.filter((j, i) => jobs.findIndex((o) => o.name === j.name) === i);
	return newest
		.filter((j) => !running(j) && ["died", "lost"].includes(level(j)) && now - (j.ended_unix_ms ?? 0) < NEWS_MS)
		.sort(byEnd)[0];
}

/** What is not known to be well is not called so. `seen`: when the server was heard last, if it is gone. */
export function headline(jobs: Job[], now: number, seen?: number): string {
	const run = jobs.filter(running);
	const dead = lastDeath(jobs, now);
	const died = dead ? ` ${dead.name} ${level(dead) === "died" ? "died" : "was lost"} ${ago(dead.ended_unix_ms, now)}.` : "";
	if (seen !== undefined) {
		const at = clock(seen, now);
		if (run.length === 0) return `Nothing was running at ${at}.${died}`;
		return run.length === 1
			? `${run[0]!.name} was last seen running, at ${at}; how it is now is not known.`
			: `${run.length} jobs were last seen running, at ${at}; how they are now is not known.`;
	}
	const urgent = run.filter((j) => URGENT.includes(level(j)));
	if (urgent.length > 0)
		return urgent.length === 1
			? `${urgent[0]!.name} ${level(urgent[0]!) === "waiting" ? "died and waits for its next attempt" : "needs you"}.`
			: `${urgent.length} of ${run.length} running jobs need you.`;
	if (run.length === 0) return `Nothing is running.${died}`;
	const many = run.length > 1 ? `${run.length} running jobs` : "running job";
	const well = run.every((j) => level(j) === "well");
	return `${well ? (run.length > 1 ? `All ${many} are well.` : `The ${many} is well.`) : `Nothing wrong is seen of the ${many}.`}${died}`;
}

/** An attempt or one of its processes began or ended: what was read of the job's past lacks it, and its report with it. */
export const turns = ({ kind = "", incident }: { kind?: string; incident?: string }) =>
	incident !== undefined || kind === "attempt_start" || kind === "job_end";

/** A job that stands has no speed, whatever its last minute was. */
export const goes = (job: Job) => running(job) && !["hung", "suspected", "waiting", "unseen"].includes(level(job));

/** It stands, or is slow: who waits for whom is what one wants to know. */
export const stands = (job: Job) => running(job) && ["hung", "suspected", "slow"].includes(level(job));
