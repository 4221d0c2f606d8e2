// The page in a browser, served by vigil itself, beside a job that runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test as always } from "node:test";
import { artifacts, browser, noBrowser, opened, paintOf, WEB } from "./kit.mjs";
import { end, job, report, server, sleepers, until } from "./live.mjs";

const WAIT = 60_000;
// Two threads, and memory that grows by a list that is thrown away now and then. The main thread pauses inside of forward, so that
// whoever looks finds it there, however seldom a busy machine lets it compute.
const TRAINS = `
import threading, time
def forward(n):
    total = sum(i * i for i in range(n))
    time.sleep(0.02)
    return total
def batches():
    kept = []
    while True:
        kept.append(bytearray(b"x" * (1 << 18)))
        if len(kept) > 200:
            kept.clear()
        time.sleep(0.01)
threading.Thread(target=batches, daemon=True).start()
step = 0
while True:
    forward(20_000)
    step += 1
    print(f"step {step}/100000", flush=True)
`;
const pictures = artifacts();
const test = (name, body) => always(name, { skip: noBrowser }, body);
let at;
let chromium;
let trains;

async function newPage() {
	const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
	context.setDefaultTimeout(WAIT);
	const faults = [];
	context.on("request", (r) => {
		if (!r.url().startsWith(at.url)) faults.push(`request to ${r.url()}`);
	});
	context.on("console", (m) => {
		if (m.type() === "error") faults.push(`console: ${m.text()}`);
	});
	context.on("weberror", (e) => faults.push(`exception: ${e.error().message}`));
	const page = await context.newPage();
	await page.goto(`${at.url}#token=${at.token}`);
	await page.waitForSelector(".overview");
	const done = async () => {
		assert.deepEqual(faults, []);
		await context.close();
	};
	return { page, done };
}

before(async () => {
	if (noBrowser) return;
	at = await server();
	trains = await job(at, "trains", 2, ["/usr/bin/python3", "-u", "-c", TRAINS]);
	chromium = await browser();
});
after(async () => {
	await chromium?.close();
	await end();
});

const kept = (kind, more) =>
	at.post("profiles", { kind, job: trains, ...more }).then(({ id }) =>
		until(async () => {
			const p = await at.get(`profiles/${id}`);
			assert.notEqual(p.state, "failed", p.error);
			return p.state === "done" && p;
		}, `a profile of kind ${kind}`),
	);

test("the printed address opens the page in one browser, where it opens it again", async () => {
	const context = await chromium.newContext();
	context.setDefaultTimeout(WAIT);
	for (let i = 0; i < 2; i++) {
		const page = await context.newPage();
		await page.goto(at.printed);
		await page.waitForSelector(".overview");
		assert.equal(page.url(), `${at.url}#/`);
	}
	const [cookie] = await context.cookies();
	assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
	const other = await (await chromium.newContext()).newPage();
	await other.goto(at.printed);
	const said = await other.locator(".login .fault").innerText();
	assert.match(said, /^this address was used already.*'vigil dashboard --port \d+' prints a new address$/);
	await Promise.all([context.close(), other.context().close()]);
});

test("speedscope is served by vigil with a policy of its own, which opens neither eval nor other machines", async () => {
	const answer = await fetch(`${at.url}speedscope/index.html`);
	assert.equal(answer.status, 200, "vigil was built without web/dist");
	const policy = answer.headers.get("content-security-policy");
	assert.match(policy, /^default-src 'self'; .*script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'sha256-[\w+/=]+'$/);
	assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|http|\*/);
	const own = await fetch(at.url);
	assert.doesNotMatch(own.headers.get("content-security-policy"), /unsafe|sha256|script-src/);
	const { id } = await kept("flame", { seconds: 1 });
	assert.equal((await fetch(`${at.url}api/v1/profiles/${id}/data?format=speedscope`)).status, 401);
});

test("a recording opens in speedscope, without another machine", async () => {
	const { page, done } = await newPage();
	const profile = await kept("flame", { seconds: 2 });
	await page.goto(`${at.url}#/profile/${profile.id}`);
	const [tab] = await Promise.all([
		page.context().waitForEvent("page"),
		page.getByRole("link", { name: "Open in speedscope" }).click(),
	]);
	await tab.waitForFunction(() => / - speedscope$/.test(document.title));
	await tab.getByText("Sandwich").click();
	await tab.waitForFunction(() => /forward/.test(document.body.innerText));
	assert.equal(new URL(tab.url()).hash, `#profile=${profile.id}`);
	await tab.screenshot({ path: join(pictures, "live-speedscope.png") });
	await done();
});

/** The form on the page of rank 0's process: a kind is chosen, its fields are filled, it is started. */
async function startOn(page, kind, fill = async () => {}) {
	const { ranks } = await at.get(`jobs/${trains}/ranks`);
	await page.goto(`${at.url}#/job/${trains}/process/${ranks[0].pid}`);
	await page.getByRole("button", { name: kind, exact: true }).click();
	await fill(page);
	await page.getByRole("button", { name: "Start", exact: true }).click();
	await page.waitForURL(/#\/profile\//);
	return page.url().split("/").pop();
}
const STACK_FORMS = ["json", "speedscope", "folded", "svg", "pprof", "html"];
const forms = (page) => page.locator("a[download]").allInnerTexts();
const seconds = (n) => (page) => page.getByRole("spinbutton").fill(String(n));

test("each form of a process's page makes its profile, shown in the page itself", async () => {
	const { page, done } = await newPage();
	await startOn(page, "Stack", (p) => p.getByRole("checkbox", { name: /native/ }).check());
	await page.locator(".groups summary").first().waitFor();
	assert.match(await page.locator(".groups").innerText(), /forward|<module>/);
	assert.deepEqual(await forms(page), STACK_FORMS);
	const [folded] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("link", { name: "folded", exact: true }).click(),
	]);
	assert.match(folded.suggestedFilename(), /^stack-.*\.folded$/);
	assert.match(readFileSync(await folded.path(), "utf8"), /^<module>.*;forward/m);
	await startOn(page, "Flame graph", async (p) => {
		await seconds(1)(p);
		await p.getByRole("checkbox", { name: /native/ }).check();
	});
	await page.waitForSelector("canvas.flamecanvas[data-drawn]");
	assert.match(await page.locator(".functions").innerText(), /forward/);
	await page.screenshot({ path: join(pictures, "live-flame.png"), fullPage: true });
	const heap = await startOn(page, "Heap", seconds(3));
	await page.locator("canvas.flamecanvas[data-drawn], .fault[role=alert]").first().waitFor();
	const { state, error } = await at.get(`profiles/${heap}`);
	// Where memory grows is seen by perf events, which a kernel may keep from ordinary users.
	if (process.getuid() === 0) assert.equal(state, "done", error);
	if (state === "done") assert.match(await page.locator(".functions").innerText(), /[KM]iB/);
	await page.screenshot({ path: join(pictures, "live-heap.png"), fullPage: true });
	await startOn(page, "Calls", seconds(2));
	await page.locator("tbody tr").first().waitFor();
	assert.match(await page.locator("tbody").innerText(), /forward|genexpr/);
	assert.deepEqual(await forms(page), ["json", "pstats", "html", "table"]);
	await page.screenshot({ path: join(pictures, "live-calls.png"), fullPage: true });
	await done();
});

test("a long recording shows how far it is, and ends when it is cancelled", async () => {
	const { page, done } = await newPage();
	const id = await startOn(page, "Flame graph", seconds(300));
	await page.waitForSelector("text=It is being made: ");
	const told = () => page.locator("[role=status] .bar").getAttribute("aria-label");
	const first = await told();
	await until(async () => (await told()) !== first, `more than ${first}`);
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.waitForSelector("text=It was cancelled.");
	assert.equal((await at.get(`profiles/${id}`)).state, "cancelled");
	await done();
});

test("the report of a hang of many ranks is a page that one can read: who, why, and not a screen for each rank", async () => {
	const hangs = join(WEB, "../tests/workloads/hangs.py");
	await job(at, "stands", 24, ["/usr/bin/python3", "-u", hangs, "missing", "--at", "5", "--steps", "400"], [
		"--hang-after",
		"4s",
	]);
	const verdict = await until(
		async () => {
			const { jobs } = await at.get("jobs");
			const found = jobs.find((j) => j.name === "stands");
			return found?.health?.level === "hung" ? found : undefined;
		},
		"the hang is judged",
		180_000,
	);
	const file = await report(verdict.id);
	for (const [width, colorScheme] of [
		[1280, "light"],
		[390, "dark"],
	]) {
		const context = await chromium.newContext({ viewport: { width, height: 900 }, colorScheme });
		const page = await context.newPage();
		const asked = [];
		page.on("request", (r) => asked.push(r.url()));
		await page.goto(`file://${file}`);
		assert.deepEqual(asked, [`file://${file}`], "it loads nothing");
		assert.match(await page.locator(".top").innerText(), /held up by rank 1[\s\S]*Culprit rank\s+1/);
		const bottom = await page.locator(".top").evaluate((e) => e.getBoundingClientRect().bottom);
		assert.ok(bottom < 900, "the verdict stands on the first screen");
		assert.equal(await page.locator("#ranks ~ .wide tbody tr").count(), 24);
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth <= 0), true, `${width}`);
		const tall = await page.evaluate(() => document.documentElement.scrollHeight);
		assert.ok(tall < 900 * 12, `${tall} pixels at ${width}`);
		await page.screenshot({ path: join(pictures, `report-hang-${width}-${colorScheme}.png`), fullPage: true });
		await context.close();
	}
});

test("the page can be used at once, the first time and when it is known", async () => {
	const context = await chromium.newContext({ viewport: { width: 1280, height: 900 } });
	const row = `.overview a[href*="#/job/${trains}"]`;
	const say = (what, { ms, cpu_ms, bytes }) =>
		console.log(
			`${what}: usable after ${ms.toFixed(0)} ms (limit 300), ${cpu_ms.toFixed(0)} ms of the page's processor time, ${(bytes / 1024).toFixed(0)} KiB fetched`,
		);
	const first = await opened(context, `${at.url}#token=${at.token}`, row);
	say("all jobs, a browser that was never here", first);
	const again = await opened(context, at.url, row);
	say("all jobs, again", again);
	const one = await opened(context, `${at.url}#/job/${trains}`, ".jobpage .ranks .cell");
	say("a job, by its address", one);
	// Several times what a quiet machine takes: others on the processors can double it. That nothing is asked for in a row: page.test.mjs.
	for (const { cpu_ms } of [first, again, one]) assert.ok(cpu_ms > 0 && cpu_ms < 400, `${cpu_ms} ms`);
	assert.ok(first.bytes < 60 * 1024, `${first.bytes} bytes`);
	await context.close();
});

test("a thousand ranks that are real: each has its memory, and their grid is painted at once", async () => {
	const many = await job(at, "thousand", 1, sleepers(1000), [], 1000);
	const { ranks, total } = await until(async () => {
		const all = await at.get(`jobs/${many}/ranks?limit=1000`);
		return all.ranks.every((r) => r.own_bytes > 0) && all;
	}, "memory of all ranks");
	assert.equal(total, 1000);
	assert.deepEqual(
		ranks.map((r) => r.rank),
		ranks.map((_, i) => i),
	);
	assert.equal(ranks.filter((r) => r.main_only).length, 1000 - 64);
	const { page, done } = await newPage();
	const took = await paintOf(page, 1000, () => page.goto(`${at.url}#/job/${many}`));
	console.log(
		`1,000 real ranks: the answer after ${took.answer.toFixed(0)} ms, painted ${took.paint.toFixed(0)} ms later (limit together 100), ${took.click.toFixed(0)} ms after the click; ` +
			`${took.all.toFixed(0)} ms of the page's processor time from the click to the paint, ${took.after.toFixed(0)} of it after the answer`,
	);
	assert.ok(took.all < 250, `${took.all} ms`);
	await page.waitForSelector("text=are kept of 64 ranks"); // it comes with their rows, after the letters
	await page.getByRole("listbox").focus();
	await page.keyboard.press("End");
	await page.waitForSelector("text=own memory, main process");
	await page.screenshot({ path: join(pictures, "live-thousand.png"), fullPage: true });
	await done();
});
