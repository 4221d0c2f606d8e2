// Requests to the server. All addresses are relative, so the page works behind any path prefix.

import { parseAnswer } from "./safe";

export class ApiError extends Error {
	constructor(
		readonly status: number,
		readonly id: string,
		text: string,
	) {
		super(text);
	}
}

const WORDS: Record<number, string> = {
	401: "The server does not know this browser. Open an address that vigil printed.",
	403: "Your role does not allow this.",
	404: "The server does not know this; it may have been removed.",
	429: "The server has too much to do. It is tried again.",
};

/** Called when the server asks for a token. */
export const session = { onLost: () => {} };

export function apiUrl(path: string, query: Record<string, string | number | undefined> = {}): string {
	const search = new URLSearchParams();
	for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
	const tail = search.toString();
	return `api/v1/${path}${tail ? `?${tail}` : ""}`;
}

async function errorOf(response: Response): Promise<ApiError> {
	try {
		const body = parseAnswer(await response.text()) as { text?: unknown; error?: unknown };
		if (typeof body.text === "string") return new ApiError(response.status, String(body.error ?? ""), body.text);
	} catch {
		/* It is no JSON: the status has to do. */
	}
	return new ApiError(
		response.status,
		"",
		WORDS[response.status] ?? `The server answered with status ${response.status}.`,
	);
}

let waiting = 0;
/** So many requests have no answer yet. */
export const waitedFor = () => waiting;

/** An answer that is fine; throws what a person is to read of any other. */
async function fine(asked: Promise<Response>, signal?: AbortSignal | null): Promise<Response> {
	let response: Response;
	waiting++;
	try {
		response = await asked;
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new ApiError(0, "unreachable", "The server does not answer. Does vigil still run?");
	} finally {
		waiting--;
	}
	if (response.ok) return response;
	// A session outlives a login that is refused.
	if (response.status === 401 && !response.url.endsWith("/login")) session.onLost();
	throw await errorOf(response);
}

const request = (path: string, init: RequestInit) =>
	fine(fetch(path, { credentials: "same-origin", ...init }), init.signal);

async function json<T>(response: Response): Promise<T> {
	try {
		return parseAnswer(await response.text()) as T;
	} catch {
		throw new ApiError(response.status, "cut", "The answer of the server was cut off. It is tried again.");
	}
}

export async function get<T>(
	path: string,
	query: Record<string, string | number | undefined> = {},
	signal?: AbortSignal,
): Promise<T> {
	return json<T>(await request(apiUrl(path, query), signal ? { signal } : {}));
}

export async function getText(path: string, query: Record<string, string | number | undefined> = {}): Promise<string> {
	return (await request(apiUrl(path, query), {})).text();
}

/** What a request that changes something is made of. */
export function written(method: "POST" | "DELETE", body?: unknown): RequestInit {
	const headers: Record<string, string> = { "X-Vigil-CSRF": "1" };
	if (body !== undefined) headers["Content-Type"] = "application/json";
	return { method, headers, ...(body !== undefined ? { body: JSON.stringify(body) } : {}) };
}

/** The answer to a request that somebody else has made. */
export async function responseOf<T>(asked: Promise<Response>): Promise<T | undefined> {
	const response = await fine(asked);
	return response.status === 204 ? undefined : json<T>(response);
}

export async function send<T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T | undefined> {
	return responseOf<T>(fetch(apiUrl(path), { credentials: "same-origin", ...written(method, body) }));
}

const enc = encodeURIComponent;
/** Paths of one job: job("x", "ranks") */
export const jobPath = (id: string, what?: string) => `jobs/${enc(id)}${what ? `/${what}` : ""}`;
export const incidentPath = (id: string) => `incidents/${enc(id)}`;
export const profilePath = (id: string) => `profiles/${enc(id)}`;
export const logPath = (job: string, file: string) => `jobs/${enc(job)}/logs/${enc(file)}`;
