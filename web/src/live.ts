// One stream of server-sent events for the whole page. The browser reconnects by itself and names the last event it
// had; when it gives up (a refusal, a proxy's error page), the page opens the stream again and asks for what it missed.
import { apiUrl, get, waitedFor } from "./api";
import { whenIdle } from "./idle";
import { parseAnswer } from "./safe";
import type { Me } from "./types";

export type Topic = "health" | "ranks" | "memory" | "events" | "jobs" | "profiles";
export type StreamKind = "jobs" | "health" | "ranks" | "memory" | "event" | "profile" | "hello";
type Handler = (kind: StreamKind, data: unknown) => void;
/** `first`: it is the first stream of what is wanted now. It tells the whole state by itself. */
type Again = (first: boolean) => void;

export interface LinkState {
	state: "connecting" | "live" | "broken";
	/** When the server was last heard, by this machine's clock. */
	seen?: number;
	/** When it was found to be away, while somebody looks. */
	lost?: number;
}

const KINDS: StreamKind[] = ["jobs", "health", "ranks", "memory", "event", "profile", "hello"];
/** A server that says nothing for so long is asked whether it is there. */
const QUIET_MS = 20_000;
/** Silent for so long it is gone: it says something each 15 s. */
const SILENT_MS = 25_000;
/** A browser connects anew within this. */
const AGAIN_MS = 5000;
/** A page that nobody sees gives its connection back after this: browsers allow six to one server. */
const HIDDEN_MS = 30_000;

/** A stream is held back for so long, at most. */
const HELD_MS = 1000;

/** When no answer is waited for and what came was painted. What it returns takes it back. */
function whenSettled(what: () => void): () => void {
	const until = Date.now() + HELD_MS;
	let back = () => {};
	const look = () => {
		const frame = requestAnimationFrame(() => {
			back = whenIdle(() => (waitedFor() > 0 && Date.now() < until ? look() : what()));
		});
		back = () => cancelAnimationFrame(frame);
	};
	look();
	return () => back();
}

class Live {
	link: LinkState = { state: "connecting" };
	/** What the server's clock is ahead of ours. */
	offset = 0;
	private source?: EventSource;
	private wanted?: { job?: string; topics: Topic[] };
	private handlers = new Set<Handler>();
	private watchers = new Set<() => void>();
	private again = new Set<Again>();
	private first = true;
	private held = () => {};
	private retry?: ReturnType<typeof setTimeout>;
	private hide?: ReturnType<typeof setTimeout>;
	private delay = 1000;
	private probing = false;

	constructor() {
		setInterval(() => {
			void this.probe();
			this.tell();
		}, 2000);
		document.addEventListener("visibilitychange", () => this.visibility());
	}

	now(): number {
		return Date.now() + this.offset;
	}

	/** When the server was last heard, by its clock, once it is gone. */
	gone(): number | undefined {
		const { state, seen = 0, lost = Infinity } = this.link;
		const away = state === "live" ? Date.now() - seen > SILENT_MS : Date.now() - lost > AGAIN_MS;
		return away ? seen + this.offset : undefined;
	}

	/** What the stream is about: of one job, or of all. It is opened once what was asked for is answered and painted. */
	want(want: { job?: string; topics: Topic[] }): void {
		const changed = JSON.stringify(want) !== JSON.stringify(this.wanted);
		this.wanted = want;
		if (!changed && this.source) return;
		this.close();
		this.first = true;
		this.held = whenSettled(() => this.open());
	}

	/** `onAgain` is called whenever the stream opens: what was read before may lack what came in between. */
	listen(handler: Handler, onAgain: Again): () => void {
		this.handlers.add(handler);
		this.again.add(onAgain);
		return () => {
			this.handlers.delete(handler);
			this.again.delete(onAgain);
		};
	}

	watch(watcher: () => void): () => void {
		this.watchers.add(watcher);
		return () => this.watchers.delete(watcher);
	}

	close(): void {
		this.held();
		clearTimeout(this.retry);
		this.source?.close();
		this.source = undefined;
	}

	private set(link: LinkState): void {
		this.link = link;
		this.tell();
	}

	private tell(): void {
		for (const watcher of this.watchers) watcher();
	}

	private broken(): void {
		const { seen, lost = Date.now() } = this.link;
		this.set({ state: "broken", ...(seen !== undefined ? { seen, lost } : {}) });
	}

	private heard(): void {
		this.set({ state: "live", seen: Date.now() });
	}

	private open(): void {
		this.close();
		if (!this.wanted) return;
		const source = new EventSource(
			apiUrl("stream", { job: this.wanted.job, topics: this.wanted.topics.join(",") }),
		);
		this.source = source;
		source.onopen = () => this.onOpen();
		source.onerror = () => this.onError(source);
		for (const kind of KINDS)
			source.addEventListener(kind, (event) => this.onData(kind, (event as MessageEvent<string>).data));
	}

	private onOpen(): void {
		this.heard();
		this.delay = 1000;
		const first = this.first;
		this.first = false;
		for (const again of this.again) again(first);
	}

	private onError(source: EventSource): void {
		if (source !== this.source) return;
		this.first = false;
		this.broken();
		if (source.readyState !== EventSource.CLOSED) return;
		this.source = undefined;
		// A stream does not tell why it was refused; this asks for the token again where that is the reason.
		get<Me>("me").catch(() => {});
		this.retry = setTimeout(() => this.open(), this.delay);
		this.delay = Math.min(this.delay * 2, 15_000);
	}

	private onData(kind: StreamKind, text: string): void {
		let data: unknown;
		try {
			data = parseAnswer(text);
		} catch {
			return;
		}
		this.heard();
		if (kind === "hello") this.setClock((data as Me).now_unix_ms);
		for (const handler of this.handlers) handler(kind, data);
	}

	setClock(now?: number): void {
		if (now !== undefined && Number.isFinite(now)) this.offset = now - Date.now();
	}

	private async probe(): Promise<void> {
		const { state, seen } = this.link;
		if (this.probing || document.hidden || state !== "live" || seen === undefined || Date.now() - seen < QUIET_MS) return;
		this.probing = true;
		try {
			const me = await get<Me>("me");
			this.setClock(me.now_unix_ms);
			this.heard();
		} catch {
			this.broken();
			this.open();
		} finally {
			this.probing = false;
		}
	}

	private visibility(): void {
		clearTimeout(this.hide);
		if (document.hidden) {
			this.hide = setTimeout(() => {
				this.close();
				this.broken();
			}, HIDDEN_MS);
		} else if (!this.source) {
			delete this.link.lost;
			this.broken();
			this.open();
		}
	}
}

export const live = new Live();
