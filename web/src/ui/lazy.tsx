// Parts of the page that the first screen does without.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty, Skeleton } from "./parts";

let styled: Promise<unknown> | undefined;

/** The style of what comes later; without it that is shown all the same. */
function lateStyle(): Promise<unknown> {
	const style = document.createElement("link");
	style.rel = "stylesheet";
	style.href = document.documentElement.dataset["late"]!;
	document.head.append(style);
	return new Promise((resolve) => {
		style.onload = style.onerror = resolve;
	});
}

/** A part of the page that is fetched when it is first wanted. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>) {
	let ready: ComponentType<P> | undefined;
	return function Lazy(props: P) {
		const [, turn] = useState(0);
		const [failed, setFailed] = useState(false);
		useEffect(() => {
			if (!ready)
				Promise.all([load(), (styled ??= lateStyle())]).then(
					([m]) => {
						ready = m.default;
						turn((t) => t + 1);
					},
					() => setFailed(true),
				);
		}, []);
		if (ready) {
			const Page = ready;
			return <Page {...props} />;
		}
		return failed ? (
			<Empty>This part of the page could not be loaded. Does vigil still run? Reload to try again.</Empty>
		) : (
			<Skeleton what="page" />
		);
	};
}
