// Work that can wait until the browser has painted what somebody waits for.

/** When the browser has nothing else to do, at most a second later. What it returns takes it back. */
export function whenIdle(what: () => void): () => void {
	if (!window.requestIdleCallback) {
		const timer = setTimeout(what, 100);
		return () => clearTimeout(timer);
	}
	const idle = requestIdleCallback(what, { timeout: 1000 });
	return () => cancelIdleCallback(idle);
}
