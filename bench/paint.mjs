#!/usr/bin/env node
/*
 * How soon can the page be used? From its address to the first screen, in a browser that was never there and in one that knows it; a
 * job by its address; from the click on a job of 1,000 ranks to the paint of their grid, by a script that clicks at once ("grid") and by
 * a mouse that rests on the link for 150 ms before it presses for 80 ("mouse").
 *
 *     VIGIL=PATH bench/paint.mjs [--rounds 9] [--ranks 1000] [--before PATH]
 *
 * A real job of ranks that sleep beside the real server, Debian's Chromium (CHROMIUM names another), as the page's tests have them
 * (tools/setup web). --before names an older vigil, whose server is asked by turns of the same store in the same browser; the pages are
 * those that were built into the two. Milliseconds on the clock and of processor time of the page's thread; a line each, and
 * all as one JSON line in the end.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { browser, noBrowser, opened, paintOf } from "../tests/web/kit.mjs";
import { end, job, server, sleepers, until } from "../tests/web/live.mjs";

const LIMIT = { first: 300, known: 300, job: 300, grid: 100, mouse: 100 };
/** A hand rests on what it is about to press, and holds it down. */
const RESTS_MS = 150;
const HELD_MS = 80;
const { values } = parseArgs({
	options: {
		rounds: { type: "string", default: "9" },
		ranks: { type: "string", default: "1000" },
		before: { type: "string" },
	},
});
const [rounds, ranks] = [Number(values.rounds), Number(values.ranks)];

const rounded = (v) => Math.round(v * 10) / 10;
function spread(numbers) {
	const list = numbers.toSorted((a, b) => a - b);
	const median = (list[(list.length - 1) >> 1] + list[list.length >> 1]) / 2;
	return { median: rounded(median), least: rounded(list[0]), most: rounded(list.at(-1)) };
}
/** [{ms: 1, …}, …] as {ms: {median, least, most}, …} */
const summed = (list) => Object.fromEntries(Object.keys(list[0]).map((key) => [key, spread(list.map((one) => one[key]))]));

const newContext = (chromium) => chromium.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });

/** The three ways to come to the page, in a browser that is new to it. */
async function visits(chromium, { url, token }, id) {
	const context = await newContext(chromium);
	const row = `.overview a[href*="#/job/${id}"]`;
	const first = await opened(context, `${url}#token=${token}`, row);
	const known = await opened(context, url, row);
	const one = await opened(context, `${url}#/job/${id}`, ".jobpage .ranks");
	await context.close();
	return { first, known, job: one };
}

/** From the click on the job in the list to its painted grid. */
async function grid(chromium, { url, token }, id, byMouse) {
	const context = await newContext(chromium);
	const page = await context.newPage();
	await page.goto(`${url}#token=${token}`);
	const link = page.locator(`.overview a[href*="#/job/${id}"]`).first();
	await link.waitFor();
	await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
	const press = async () => {
		await link.hover();
		await page.waitForTimeout(RESTS_MS);
		await page.mouse.down();
		await page.waitForTimeout(HELD_MS);
		await page.mouse.up();
	};
	const { click, answer, paint, all, after } = await paintOf(page, ranks, byMouse ? press : () => link.evaluate((a) => a.click()));
	await context.close();
	return { ms: click, answer_ms: answer, paint_ms: paint, cpu_ms: all, cpu_after_answer_ms: after };
}

async function measure(chromium, servers, id) {
	const got = Object.fromEntries(Object.keys(servers).map((name) => [name, { first: [], known: [], job: [], grid: [], mouse: [] }]));
	// The first round of each warms the browser and the server, and is not counted.
	for (let round = -1; round < rounds; round++)
		for (const [name, where] of Object.entries(servers)) {
			const told = {
				...(await visits(chromium, where, id)),
				grid: await grid(chromium, where, id, false),
				mouse: await grid(chromium, where, id, true),
			};
			if (round >= 0) for (const [what, one] of Object.entries(told)) got[name][what].push(one);
		}
	return got;
}

if (noBrowser) throw new Error(noBrowser);
const servers = { ...(values.before ? { before: await server([], undefined, values.before) } : {}), now: await server() };
const chromium = await browser();
try {
	const id = await job(servers.now, "many", 1, sleepers(ranks), [], ranks);
	await until(async () => (await servers.now.get(`jobs/${id}/ranks?limit=1000`)).ranks.every((r) => r.own_bytes > 0), "memory of all ranks");
	const load = [loadavg()[0]];
	const got = await measure(chromium, servers, id);
	load.push(loadavg()[0]);
	const told = Object.fromEntries(
		Object.entries(got).map(([name, of]) => [name, Object.fromEntries(Object.entries(of).map(([what, list]) => [what, summed(list)]))]),
	);
	for (const [name, of] of Object.entries(told))
		for (const [what, { ms, cpu_ms }] of Object.entries(of))
			console.log(
				`${name.padEnd(6)} ${what.padEnd(5)} ${ms.median} ms (${ms.least} to ${ms.most}; limit ${LIMIT[what]}), ${cpu_ms.median} ms of the page's processor time (${cpu_ms.least} to ${cpu_ms.most})`,
			);
	console.log(JSON.stringify({ bench: "paint", rounds, ranks, load: load.map(rounded), processors: cpus().length, ...told }));
} finally {
	await chromium.close();
	await end();
}
