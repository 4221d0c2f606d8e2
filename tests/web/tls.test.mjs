// The page by https in a browser, from vigil itself: the certificate, what a session is, the stream, a form, and that no way leads back to http.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test as always } from "node:test";
import { browser, noBrowser } from "./kit.mjs";
import { end, job, server } from "./live.mjs";

const HOST = "gpu7.test";
const SLEEPS = "import time\nfor i in range(10**6):\n    print(f'step {i}/1000000', flush=True); time.sleep(0.1)";
const folder = mkdtempSync(join(tmpdir(), "vigil-tls-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const file = (name) => join(folder, name);
const openssl = (...args) => execFileSync("openssl", args, { stdio: "pipe" });
const hasOpenssl = (() => {
	try {
		openssl("version");
		return true;
	} catch {
		return false;
	}
})();
const skip = noBrowser || (hasOpenssl ? false : "openssl is not installed");
const test = (name, body) => always(name, { skip }, body);

/** An authority, and a certificate of its for this machine: what an administrator would have. */
function certificates() {
	const names = `subjectAltName=DNS:localhost,DNS:${HOST},IP:127.0.0.1`;
	openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", file("ca.key"), "-out", file("ca.pem"), "-days", "2", "-subj", "/CN=vigil test authority");
	openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", file("host.key"), "-out", file("host.csr"), "-subj", "/CN=localhost");
	writeFileSync(file("names"), names);
	openssl("x509", "-req", "-in", file("host.csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", file("names"), "-out", file("host.pem"));
}

/** What Chromium is told to trust: the sum of the public key. */
const spki = () =>
	createHash("sha256")
		.update(new X509Certificate(readFileSync(file("host.pem"))).publicKey.export({ type: "spki", format: "der" }))
		.digest("base64");

let at;
let id;
let chromium;

before(async () => {
	if (skip) return;
	certificates();
	const ca = readFileSync(file("ca.pem"));
	at = await server(["--listen", "127.0.0.1:0", "--tls-cert", file("host.pem"), "--tls-key", file("host.key"), "--allow-host", HOST], ca);
	id = await job(at, "secret", 1, ["/usr/bin/python3", "-u", "-c", SLEEPS]);
	chromium = await browser([
		`--ignore-certificate-errors-spki-list=${spki()}`,
		`--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
	]);
});
after(async () => {
	await chromium?.close();
	await end();
});

async function newPage() {
	const context = await chromium.newContext();
	context.setDefaultTimeout(60_000);
	const faults = [];
	context.on("console", (m) => {
		if (m.type() === "error") faults.push(`console: ${m.text()}`);
	});
	context.on("weberror", (e) => faults.push(`exception: ${e.error().message}`));
	context.on("request", (r) => {
		if (!r.url().startsWith("https://") && !r.url().startsWith("blob:")) faults.push(`in the clear: ${r.url()}`);
	});
	return { context, page: await context.newPage(), faults };
}

test("a browser that does not know the authority does not open the page", async () => {
	const strict = await browser();
	const page = await strict.newPage();
	await assert.rejects(page.goto(at.url), /ERR_CERT_AUTHORITY_INVALID/);
	await strict.close();
});

test("by https the page opens, its session is for https alone, news stream in, and a form makes a profile", async () => {
	assert.match(at.url, /^https:\/\/127\.0\.0\.1:/);
	const { context, page, faults } = await newPage();
	const answer = await page.goto(`${at.url}#token=${at.token}`);
	const { issuer, protocol } = await answer.securityDetails();
	assert.equal(issuer, "vigil test authority");
	assert.match(protocol, /^TLS 1\.[23]$/);
	assert.equal(answer.headers()["strict-transport-security"], "max-age=31536000");
	await page.waitForSelector(".overview");
	assert.equal(await page.evaluate(() => isSecureContext), true);
	const [session] = await context.cookies();
	assert.deepEqual(
		[session.name, session.secure, session.httpOnly, session.sameSite],
		[`vigil_session_${new URL(at.url).port}`, true, true, "Strict"],
	);

	await page.goto(`${at.url}#/job/${id}`);
	await page.waitForFunction(() => /live/.test(document.querySelector(".link")?.textContent ?? ""));
	const step = () => page.locator(".jobpage").innerText();
	const first = await step();
	await page.waitForFunction((old) => document.querySelector(".jobpage").innerText !== old, first);

	const { ranks } = await at.get(`jobs/${id}/ranks`);
	await page.goto(`${at.url}#/job/${id}/process/${ranks[0].pid}`);
	await page.getByRole("button", { name: "Stack", exact: true }).click();
	await page.getByRole("button", { name: "Start", exact: true }).click();
	await page.waitForURL(/#\/profile\//);
	await page.locator(".groups summary").first().waitFor();
	const [saved] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("link", { name: "folded", exact: true }).click(),
	]);
	assert.match(readFileSync(await saved.path(), "utf8"), /<module>/);
	assert.deepEqual(faults, []);
	await context.close();
});

test("a name that was opened by https is not asked by http any more, and http itself is answered with nothing", async () => {
	const { context, page } = await newPage();
	const port = new URL(at.url).port;
	await page.goto(`https://${HOST}:${port}/#token=${at.token}`);
	await page.waitForSelector(".overview");
	// The browser itself turns the address around before anything is sent.
	const answer = await page.goto(`http://${HOST}:${port}/?again`);
	assert.equal(new URL(answer.url()).protocol, "https:");
	const from = answer.request().redirectedFrom();
	assert.equal(new URL(from.url()).protocol, "http:");
	assert.equal((await from.response()).status(), 307);
	assert.equal((await from.response()).headers()["non-authoritative-reason"], "HSTS");
	await page.waitForSelector(".overview");
	await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
	await context.close();
});
