// The page as a tired person meets it, on a phone: fingers, numbers that agree, what is first, what is not claimed.
import assert from "node:assert/strict";
import { after, before, test as always } from "node:test";
import { browser, noBrowser, serve, source } from "./kit.mjs";

const WELL = "job/llama-pretrain-vrm6";
const HUNG = "job/vision-ddp-kwet";
const DIED = "job/bert-finetune-abhp";
const test = (name, body) => always(name, { skip: noBrowser }, body);
let server;
let chromium;
let page;

before(async () => {
	if (noBrowser) return;
	server = await serve();
	chromium = await browser();
	const context = await chromium.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	page = await context.newPage();
	page.setDefaultTimeout(20_000);
	await page.goto(`${server.url}#token=${server.control.token}`);
	await page.waitForSelector(".overview");
});
after(async () => {
	await chromium?.close();
	await server?.close();
});

async function go(path) {
	await page.goto(`${server.url}#/${path}`);
	await page.waitForFunction(
		() =>
			document.querySelector("main:not([aria-busy])") &&
			!document.querySelector(".skeleton, .picture") &&
			(!document.querySelector(".jobpage") || document.querySelector("#memory")),
	);
}
const text = (selector) => page.locator(selector).first().innerText();

test("what a finger can press is 40 pixels high on each page", async () => {
	const found = [];
	for (const path of [
		"",
		WELL,
		HUNG,
		DIED,
		"events",
		`${HUNG}/events`,
		`${WELL}/logs`,
		"incident/bert-finetune-abhp.1",
		"incident/vision-ddp-kwet.1",
		`${HUNG}/processes`,
		`${WELL}/process/18074`,
		`${WELL}/profiles`,
		`${DIED}/timeline`,
		"node",
	]) {
		await go(path);
		const small = await page.evaluate(() =>
			[...document.querySelectorAll("a, button, select, summary, input:not([type=checkbox]), label.check")]
				.map((e) => [e, e.getBoundingClientRect()])
				.filter(([e, b]) => b.width > 0 && b.height < 40 && !e.matches(".skip"))
				.map(([e, b]) => `${e.outerHTML.slice(0, 120)}: ${Math.round(b.height)}`),
		);
		found.push(...new Set(small.map((one) => `/${path} ${one}`)));
	}
	assert.deepEqual(found, []);
});

test("how long a job stands is told once: since when, beside the sentence; a speed that is over is not told", async () => {
	await go(HUNG);
	assert.match(await text(".verdict .level"), /since .*\d\d:\d\d:\d\d/);
	assert.doesNotMatch(await text(".verdict .level"), / for /);
	await page.locator("#rank-2").click();
	assert.doesNotMatch(await text(".rankfacts"), /steps\/s/);
	assert.doesNotMatch(await text("main"), /steps a second\n\d/);
	await go(WELL);
	await page.locator("#rank-0").click();
	assert.match(await text(".rankfacts"), /rate\n2\/s/);
});

test("the cause stands under the sentence, above what to do", async () => {
	await go(HUNG);
	const [culprit, why, advice] = await page.evaluate(() =>
		[".culprits", ".verdict .why", ".verdict .advice"].map((s) => document.querySelector(s).getBoundingClientRect().top),
	);
	assert.ok(culprit < why && why < advice);
	assert.match(await text(".verdict .why"), /empty pipe/);
});

test("the report of a hang opens the culprit's stack, that of a kill names other programs", async () => {
	await go("incident/vision-ddp-kwet.1");
	assert.match(await text(".groups details[open] summary"), /rank 2/);
	await go("incident/bert-finetune-abhp.1");
	const rows = await page.locator("tbody td:first-child").allInnerTexts();
	assert.ok(rows.length > 2 && rows.every((row) => /[a-z0-9]+, pid \d+/.test(row)), rows.join("\n"));
});

test("a table of processes is whole on a phone; who has no rank has a log all the same", async () => {
	await go(`${HUNG}/processes`);
	const over = await page.locator(".scroll").evaluate((e) => e.scrollWidth - e.clientWidth);
	assert.ok(over <= 0, `${over} pixels are out of sight`);
	await go("job/whisper-eval-wgvz");
	await page.locator(".verdict .actions a", { hasText: /^Log/ }).click();
	await page.waitForSelector(".logline");
});

test("no button for older events where there are none, the one process of a job is shown by itself", async () => {
	await go("events");
	assert.equal(await page.getByRole("button", { name: "Older events" }).count(), 0);
	await go("job/whisper-eval-wgvz");
	assert.match(await text(".rankfacts h3"), /Process|Rank/);
});

test("what a rank waits for is not cut where there is room for it", async () => {
	await page.setViewportSize({ width: 1000, height: 800 });
	await go(HUNG);
	await page.waitForSelector(".waitbox .why");
	const cut = await page.locator(".waitbox .why").allTextContents();
	assert.ok(cut.length > 2 && cut.every((t) => !t.endsWith("…") || t.length > 60), cut.join("\n"));
	const outside = await page.locator(".waitbox").evaluateAll((all) =>
		all.some((g) => {
			const box = g.querySelector("rect").getBoundingClientRect();
			return [...g.querySelectorAll("text")].some((t) => t.getBoundingClientRect().right > box.right);
		}),
	);
	assert.ok(!outside, "and stays in its box");
	await page.setViewportSize({ width: 390, height: 844 });
});
