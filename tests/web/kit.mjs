// What the tests of the page share: modules of the page as they are, the built page, the server that plays the API, a browser.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const WEB = join(dirname(fileURLToPath(import.meta.url)), "../../web");
export const need = createRequire(join(WEB, "package.json"));
const temp = mkdtempSync(join(tmpdir(), "vigil-web-"));
process.on("exit", () => rmSync(temp, { recursive: true, force: true }));

/** A module of src/, compiled as the build does it. */
export async function source(path) {
	const out = join(temp, path.replace(/[/.]/g, "_") + ".mjs");
	await need("esbuild").build({
		absWorkingDir: WEB,
		entryPoints: [join("src", path)],
		outfile: out,
		bundle: true,
		format: "esm",
		jsx: "automatic",
		jsxImportSource: "preact",
		logLevel: "error",
	});
	return import(pathToFileURL(out));
}

/** The page, built from the sources as they are now. */
export function built() {
	const out = join(temp, "dist");
	if (!existsSync(out))
		execFileSync(process.execPath, [join(WEB, "build.mjs"), out], { stdio: ["ignore", "ignore", "inherit"] });
	return out;
}

export async function serve(options = {}) {
	const { startDevServer } = await import(pathToFileURL(join(WEB, "dev-server.mjs")));
	return startDevServer({ dist: built(), ...options });
}

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const NODE = Number(process.versions.node.split(".")[0]);
/** Why the tests in a browser cannot run; false: they can. */
export const noBrowser =
	NODE < 20
		? `node ${NODE} is too old to drive a browser, 20 is needed`
		: existsSync(CHROMIUM)
			? false
			: `${CHROMIUM} is not installed; tools/setup web installs it`;

export async function browser(more = []) {
	const root = process.getuid() === 0 ? ["--no-sandbox"] : [];
	return need("playwright-core").chromium.launch({ executablePath: CHROMIUM, args: [...root, ...more] });
}

const sum = (list) => list.reduce((all, one) => all + one, 0);

/**
 * Does `act`, which asks for ranks, and says in milliseconds what it took until the grid with so many cells was painted: of the page's
 * thread, processor time since then (`all`) and since the answer (`after`), which holds on a busy machine, too, and on the clock how
 * long the answer took (`answer`), the paint after it (`paint`), and all of it since the click (`click`). What comes after the paint does not count.
 */
export async function paintOf(page, cells, act) {
	await page.evaluate((many) => {
		addEventListener("hashchange", () => performance.mark("clicked"), { once: true });
		new MutationObserver((_, observer) => {
			// Their picture is painted before the cells themselves.
			const list = document.querySelector(".ranks");
			if (!list || (list.childElementCount < many && (list.dataset.letters ?? "").length < many)) return;
			observer.disconnect();
			requestAnimationFrame(() => setTimeout(() => performance.mark("painted")));
		}).observe(document.body, { childList: true, subtree: true });
	}, cells);
	const cdp = await page.context().newCDPSession(page);
	const events = [];
	cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
	await cdp.send("Tracing.start", { transferMode: "ReportEvents", categories: "devtools.timeline,blink.user_timing,toplevel" });
	await act();
	await page.waitForFunction(() => performance.getEntriesByName("painted").length > 0, undefined, { polling: 20 });
	const whole = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
	await cdp.send("Tracing.end");
	await whole;
	const mark = events.find((e) => e.name === "painted" && e.cat.includes("user_timing"));
	const asked = new Set(
		events
			.filter((e) => e.name === "ResourceSendRequest" && /\/ranks\?/.test(e.args.data.url))
			.map((e) => e.args.data.requestId),
	);
	// One that is cut off is no answer.
	const answer = events.find(
		(e) => e.name === "ResourceFinish" && asked.has(e.args.data.requestId) && !e.args.data.didFail,
	);
	// Tasks stand in each other; the outermost ones are counted.
	let end = 0;
	const tasks = events
		.filter((e) => e.pid === mark.pid && e.tid === mark.tid && e.ph === "X" && e.tdur !== undefined && e.ts < mark.ts)
		.sort((a, b) => a.ts - b.ts || b.dur - a.dur)
		.filter((e) => e.ts >= end && ((end = e.ts + e.dur), true));
	const [server, paint, click] = await page.evaluate(() => {
		const [first] = performance
			.getEntriesByType("resource")
			.filter((e) => e.name.includes("/ranks?") && e.responseStart > 0);
		const [clicked, painted] = ["clicked", "painted"].map((name) => performance.getEntriesByName(name)[0].startTime);
		return [first.responseEnd - first.requestStart, painted - first.responseEnd, painted - clicked];
	});
	return {
		all: sum(tasks.map((e) => e.tdur)) / 1000,
		after: sum(tasks.filter((e) => e.ts + e.dur > answer.ts).map((e) => e.tdur)) / 1000,
		answer: server,
		paint,
		click,
	};
}

/**
 * Opens an address in a tab of its own and says when the page can be used: what was asked for is painted, and the main thread
 * is free for a key or a click. Milliseconds since the address was opened, and of processor time of the page's thread. The page
 * says so by itself: to look into it meanwhile would cost as much as its own script.
 */
export async function opened(context, address, selector) {
	const page = await context.newPage();
	await page.addInitScript((what) => {
		new MutationObserver((_, observer) => {
			if (!document.querySelector(what)) return;
			observer.disconnect();
			requestAnimationFrame(() =>
				setTimeout(() => {
					performance.measure("usable", { start: 0 });
					window.vigilUsable("");
				}),
			);
		}).observe(document, { childList: true, subtree: true });
	}, selector);
	const cdp = await context.newCDPSession(page);
	await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	await cdp.send("Runtime.enable");
	await cdp.send("Runtime.addBinding", { name: "vigilUsable" });
	const usable = new Promise((resolve) => cdp.once("Runtime.bindingCalled", resolve));
	await page.goto(address, { waitUntil: "commit" });
	await usable;
	const { metrics } = await cdp.send("Performance.getMetrics");
	const told = {
		ms: await page.evaluate(() => performance.getEntriesByName("usable")[0].duration),
		cpu_ms: metrics.find((m) => m.name === "TaskDuration").value * 1000,
		bytes: await page.evaluate(() =>
			["navigation", "resource"]
				.flatMap((type) => performance.getEntriesByType(type))
				.reduce((sum, e) => sum + e.transferSize, 0),
		),
	};
	await page.close();
	return told;
}

/** Where pictures are kept for a person to look at. */
export function artifacts() {
	const out = process.env.VIGIL_ARTIFACTS ? join(process.env.VIGIL_ARTIFACTS, "page") : join(tmpdir(), "vigil-page");
	mkdirSync(out, { recursive: true });
	return out;
}
