// Answers that are asked for before somebody wants them: by first.ts while the scripts of the page are still fetched, and by
// a click before the page that it leads to is drawn. An answer is given away once, to whoever asks for its address.
import { apiUrl, get, jobPath, responseOf } from "./api";
import type { Route } from "./route";

type Query = Record<string, string | number | undefined>;
export type Asked = [path: string, query: Query];

/** What first.ts has begun: the login, if there was a token, and answers by their address. */
export interface Begun {
	login?: Promise<Response>;
	answers: Map<string, Promise<Response>>;
}

declare global {
	interface Window {
		vigilBegun?: Begun;
	}
}

export const INCIDENT_KINDS =
	"memory_kill,kernel_oom,cgroup_oom,systemd_oomd,other_oom_daemon,killed_by,crash,error_exit,gpu_oom,shm_full," +
	"hang,straggler,slowdown,peer_lost";
export const ME: Asked = ["me", {}];
export const JOBS: Asked = ["jobs", { limit: 50 }];
export const LAST_INCIDENTS: Asked = ["events", { order: "desc", limit: 8, kind: INCIDENT_KINDS }];
/** Of more ranks than these a cell is a letter, and their rows are asked for once the letters are painted. */
export const LARGE_CELLS = 64;
export const ranksAsked = (job: string): Asked => [jobPath(job, "ranks"), { limit: 1000, grid_over: LARGE_CELLS }];

/** What the first screen of a page shows, the most wanted first. `before`: the page that is left, whose job is known. */
export function firstOf(route: Route, before?: Route): Asked[] {
	if (route.page === "overview") return [JOBS, LAST_INCIDENTS];
	if (route.job === undefined) return [];
	const job: Asked[] = before?.job === route.job ? [] : [[jobPath(route.job), {}]];
	return route.page === "job" && route.id === undefined ? [...job, ranksAsked(route.job)] : job;
}

/** An answer that nobody has taken by then is too old. */
const KEPT_MS = 5000;
/** For so long a paint waits for what it shows: an answer that comes a moment later would be a second paint. */
const PAINT_MS = 100;

interface Entry {
	promise: Promise<unknown>;
	/** The answer, once it is there. */
	data?: unknown;
	asked: number;
}

const entries = new Map<string, Entry>();

const isFresh = (entry: Entry | undefined) => entry !== undefined && Date.now() - entry.asked < KEPT_MS;

function put(url: string, promise: Promise<unknown>): void {
	const entry: Entry = { promise, asked: Date.now() };
	entries.set(url, entry);
	promise.then(
		(data) => {
			entry.data = data;
		},
		() => {
			// Whoever wants it asks again, and learns why.
			if (entries.get(url) === entry) entries.delete(url);
		},
	);
}

function take(url: string): Entry | undefined {
	const entry = entries.get(url);
	entries.delete(url);
	return isFresh(entry) ? entry : undefined;
}

export function askAhead(all: Asked[]): void {
	for (const [path, query] of all) {
		const url = apiUrl(path, query);
		if (!isFresh(entries.get(url))) put(url, get(path, query));
	}
}

/** Takes over what first.ts has asked for. */
export function adopt(begun: Begun | undefined): void {
	for (const [url, response] of begun?.answers ?? []) put(url, responseOf(response));
	begun?.answers.clear();
}

/** An answer that is there already. */
export function answerAhead<T>([path, query]: Asked): T | undefined {
	const url = apiUrl(path, query);
	return entries.get(url)?.data === undefined ? undefined : (take(url)?.data as T | undefined);
}

/** An answer that was asked for already, else a request. */
export function getAhead<T>(path: string, query: Query, signal?: AbortSignal): Promise<T> {
	return (take(apiUrl(path, query))?.promise as Promise<T> | undefined) ?? get<T>(path, query, signal);
}

/** What was asked for is answered, or it takes too long to wait for it with empty hands. */
export async function answered(): Promise<void> {
	const late = new Promise((resolve) => setTimeout(resolve, PAINT_MS));
	await Promise.race([late, Promise.allSettled([...entries.values()].map((e) => e.promise))]);
}
