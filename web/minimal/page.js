// The small page: logs in with the code of the address, or a token, and lists the jobs, live by the server's stream.
"use strict";
const said = document.getElementById("said");
const form = document.getElementById("login");
const table = document.getElementById("jobs");

async function login(proof) {
  const answer = await fetch("api/v1/login", {
    method: "POST", headers: { "Content-Type": "application/json", "X-Vigil-CSRF": "1" }, body: JSON.stringify(proof),
  });
  return answer.ok ? "" : (await answer.json()).text;
}

function row(job) {
  const line = document.createElement("tr");
  const cell = (...parts) => {
    const td = document.createElement("td");
    td.append(...parts);
    line.append(td);
  };
  const links = ["", "ranks", "processes", "memory", "events", "incidents", "logs"].map((what) => {
    const a = document.createElement("a");
    a.href = "api/v1/jobs/" + encodeURIComponent(job.id) + (what ? "/" + what : "");
    a.textContent = what || "job";
    return a;
  });
  cell(job.id);
  cell(job.state);
  cell(job.health ? job.health.level + ": " + job.health.sentence : "");
  cell(...links.flatMap((a) => [a, " "]));
  return line;
}

/* refused: why a login was not taken; a session that the browser has goes on all the same. */
async function show(refused) {
  const answer = await fetch("api/v1/jobs");
  const list = await answer.json();
  said.textContent = answer.ok ? list.total + " jobs" : refused || list.text;
  if (answer.ok) table.tBodies[0].replaceChildren(...list.jobs.map(row));
  table.hidden = !answer.ok;
  form.hidden = answer.ok;
  return answer.ok;
}

function follow() {
  const stream = new EventSource("api/v1/stream?topics=jobs");
  stream.addEventListener("jobs", () => show(""));
  stream.onerror = () => { said.textContent = "The server does not answer; the list may be old."; };
}

async function begin() {
  let refused = "";
  const given = /^#(code|token)=([0-9a-f]+)$/.exec(location.hash);
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    refused = await login({ [given[1]]: given[2] });
  }
  if (await show(refused)) follow();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const refused = await login({ token: document.getElementById("token").value.trim() });
  if (await show(refused)) follow();
});
begin();
