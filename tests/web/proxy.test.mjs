// The page of vigil itself behind a proxy of the kind that notebooks and editors in a browser have: below a prefix, with the
// Host that the browser sent, and compressing whatever an answer does not forbid (the "compression" of code-server; RFC 9111, no-transform).
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { after, before, test as always } from "node:test";
import { createGzip } from "node:zlib";
import { browser, noBrowser } from "./kit.mjs";
import { end, job, ran, server, until } from "./live.mjs";

const PREFIX = "/user/ann/proxy/9877/";
const STEPS = "import multiprocessing, time\nmultiprocessing.Process(target=time.sleep, args=(900,), daemon=True).start()\nfor i in range(10**6):\n    print(f'step {i}/1000000', flush=True); time.sleep(0.1)";
const test = (name, body) => always(name, { skip: noBrowser }, body);

/** The way to the server is cut off. */
let cut = false;

/** Passes a request on without its prefix. What is compressed comes once there is enough of it, as that proxy does it. */
function pass(to, asked, answer) {
	if (cut) {
		asked.socket.destroy();
		return;
	}
	if (!asked.url.startsWith(PREFIX)) {
		answer.writeHead(404).end();
		return;
	}
	const { hostname, port } = new URL(to);
	const path = `/${asked.url.slice(PREFIX.length)}`;
	const { "accept-encoding": takes, ...headers } = asked.headers;
	const inner = request({ hostname, port, path, method: asked.method, headers }, (got) => {
		const kept = /no-transform/.test(got.headers["cache-control"] ?? "") || !/gzip/.test(takes ?? "");
		const { "content-length": length, ...others } = got.headers;
		if (kept || asked.method === "HEAD" || got.statusCode === 204 || got.statusCode === 304) {
			answer.writeHead(got.statusCode, got.headers);
			got.pipe(answer);
			return;
		}
		answer.writeHead(got.statusCode, { ...others, "content-encoding": "gzip" });
		got.pipe(createGzip()).pipe(answer);
	});
	inner.on("error", () => answer.destroy());
	answer.on("close", () => inner.destroy());
	asked.pipe(inner);
}

let at;
let id;
let chromium;
let proxy;
let url;

before(async () => {
	if (noBrowser) return;
	at = await server();
	id = await job(at, "behind", 2, ["/usr/bin/python3", "-u", "-c", STEPS]);
	proxy = createServer((asked, answer) => pass(at.url, asked, answer));
	await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	url = `http://127.0.0.1:${proxy.address().port}${PREFIX}`;
	chromium = await browser();
});
after(async () => {
	await chromium?.close();
	proxy?.closeAllConnections();
	proxy?.close();
	await end();
});

test("behind a proxy with a prefix that compresses, news stream in and the buttons work", async () => {
	const page = await (await chromium.newContext()).newPage();
	const outside = [];
	page.on("request", (r) => r.url().startsWith(url) || outside.push(r.url()));
	page.setDefaultTimeout(30_000);
	await page.goto(`${url}#token=${at.token}`);
	await page.waitForSelector(".overview");
	await page.goto(`${url}#/job/${id}`);
	await page.waitForSelector(".ranks .cell");
	await page.waitForFunction(() => /live/.test(document.querySelector(".link").textContent));
	const said = () => document.querySelector(".verdict h1").innerText;
	const first = await (await page.waitForFunction(`/step/.test((${said})()) && (${said})()`)).jsonValue();
	await page.waitForFunction((old) => document.querySelector(".verdict h1").innerText !== old, first);
	await page.getByRole("button", { name: "Look now" }).click();
	await page.waitForSelector("#stacks >> text=<module>");
	await page.goto(`${url}#/job/${id}/processes`);
	// A data loader is a process like any other: it is listed, and its stack is one click away.
	await page.getByRole("row", { name: "worker" }).first().getByRole("link").click();
	await page.getByLabel("threads that wait, too").check(); // it does little else
	await page.getByRole("button", { name: "Start", exact: true }).click();
	await page.waitForSelector("text=_bootstrap");
	await page.goto(`${url}#/job/${id}/logs`);
	await page.waitForSelector("text=/step \\d+.1000000/");
	const [saved] = await Promise.all([page.waitForEvent("download"), page.getByText("Download").first().click()]);
	assert.match(saved.suggestedFilename(), /\.log$/);
	assert.deepEqual(outside, []);
});

test("a browser that is cut off and comes back has no gap in a log and no line or event twice", async () => {
	const context = await chromium.newContext();
	context.setDefaultTimeout(60_000);
	const logs = await context.newPage();
	await logs.goto(`${url}#token=${at.token}`);
	await logs.waitForSelector(".overview");
	await logs.goto(`${url}#/job/${id}/logs`);
	const events = await context.newPage();
	await events.goto(`${url}#/events`);
	const link = (page, word) =>
		page.waitForFunction((w) => document.querySelector(".link")?.textContent.includes(w), word, { polling: 50 });
	for (const page of [logs, events]) await link(page, "live");
	const step = async () => (await at.get(`jobs/${id}/ranks`)).ranks[0].step ?? 0;
	const before = await until(step, "a step");
	cut = true;
	proxy.closeAllConnections();
	for (const page of [logs, events]) await link(page, "last seen");
	assert.equal(await ran("meanwhile", ["/bin/sh", "-c", "exit 3"]), 3);
	const then = await until(async () => {
		const now = await step();
		return now > before + 30 && now;
	}, "30 steps while the browser is cut off");
	cut = false;
	for (const page of [logs, events]) await link(page, "live");
	await logs.bringToFront();
	// The log has a line a step, from 0 on: as many are held as the last one says, once it is newer than the cut.
	await logs.waitForFunction((n) => {
		const text = document.querySelector("main").innerText;
		const last = Number([...text.matchAll(/step (\d+).1000000/g)].pop()?.[1]);
		const held = Number(/held: ([\d,]+) lines/.exec(text)?.[1].replace(/,/g, ""));
		return last > n && held === last + 1;
	}, then);
	await events.bringToFront();
	await events.waitForSelector("text=meanwhile");
	const { events: all } = await at.get("events?order=desc&limit=200");
	assert.ok(all.some((e) => e.kind === "job_end" && e.job.startsWith("meanwhile")));
	await events.waitForFunction((n) => document.querySelectorAll(".events > li").length === n, all.length);
	await context.close();
});
