// The address after '#' as a page and its arguments. Pure.

export interface Route {
	page:
		| "overview"
		| "job"
		| "logs"
		| "events"
		| "processes"
		| "process"
		| "profiles"
		| "profile"
		| "compare"
		| "timeline"
		| "incident"
		| "node"
		| "absent";
	job?: string;
	/** process id, incident, profile, moment */
	id?: string;
	/** second profile of a comparison */
	other?: string;
	query: Record<string, string>;
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function queryOf(text: string): Record<string, string> {
	const query: Record<string, string> = {};
	for (const [key, value] of new URLSearchParams(text)) query[key] = value;
	return query;
}

function jobRoute(job: string, rest: string[], query: Record<string, string>): Route {
	const [what, id] = rest;
	if (what === undefined) return { page: "job", job, query };
	if (what === "at" && id && /^\d+$/.test(id)) return { page: "job", job, id, query };
	if (what === "process" && id && /^\d+$/.test(id)) return { page: "process", job, id, query };
	if (
		id === undefined &&
		(what === "logs" || what === "events" || what === "processes" || what === "profiles" || what === "timeline")
	) {
		return { page: what, job, query };
	}
	return { page: "absent", query };
}

export function parseRoute(hash: string): Route {
	const text = proofOf(hash) === undefined ? hash.replace(/^#/, "") : "";
	const cut = text.indexOf("?");
	const query = queryOf(cut < 0 ? "" : text.slice(cut + 1));
	const parts = (cut < 0 ? text : text.slice(0, cut)).split("/").filter(Boolean).map(decode);
	const [first, second, third] = parts;
	if (first === undefined) return { page: "overview", query };
	if (first === "job" && second) return jobRoute(second, parts.slice(2), query);
	if (first === "incident" && second && !third) return { page: "incident", id: second, query };
	if (first === "profile" && second && !third) return { page: "profile", id: second, query };
	if (first === "compare" && second && third) return { page: "compare", id: second, other: third, query };
	if ((first === "events" || first === "node") && !second) return { page: first, query };
	return { page: "absent", query };
}

/** #/job/ID/logs?rank=2 */
export function link(parts: (string | number)[], query: Record<string, string | number | undefined> = {}): string {
	const search = new URLSearchParams();
	for (const [key, value] of Object.entries(query))
		if (value !== undefined && value !== "") search.set(key, String(value));
	const tail = search.toString();
	return `#/${parts.map((p) => encodeURIComponent(String(p))).join("/")}${tail ? `?${tail}` : ""}`;
}

/** A code or a token, by its name. */
export type Proof = Record<string, string>;

/** The code of the address that vigil printed, or a token; it is taken out of the address once it was sent. */
export function proofOf(hash: string): Proof | undefined {
	const match = /^#(code|token)=([^&]+)/.exec(hash);
	return match ? { [match[1]!]: decode(match[2]!) } : undefined;
}
