"use strict";
(function () {
	const svg = document.documentElement;
	const info = document.getElementById("info"), matched = document.getElementById("matched");
	const reset = document.getElementById("reset"), find = document.getElementById("find");
	const LEFT = 10, WIDTH = 1180, CHAR = 6.6;
	const boxes = [];
	let zoomed = null, pattern = null;

	/* The first line of a title is the name, the second what it weighs. */
	for (const g of document.getElementById("boxes").children) {
		const rect = g.querySelector("rect"), text = g.querySelector("text");
		const [name, weight] = g.querySelector("title").textContent.split("\n");
		boxes.push({
			g, rect, text, name, weight,
			x: parseFloat(rect.getAttribute("x")), w: parseFloat(rect.getAttribute("width")),
			y: parseFloat(rect.getAttribute("y")), fill: rect.getAttribute("fill"),
		});
	}

	function label(box, width) {
		const room = Math.floor((width - 6) / CHAR);
		if (room < 3)
			return "";
		const letters = Array.from(box.name);
		return letters.length <= room ? box.name : letters.slice(0, room - 1).join("") + "\u2026";
	}

	function place(box, x, w) {
		box.g.style.display = "";
		box.rect.setAttribute("x", x);
		box.rect.setAttribute("width", w);
		let text = box.text;
		const words = label(box, w);
		if (!text && words) {
			text = box.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
			text.setAttribute("y", box.y + 12);
			box.g.appendChild(text);
		}
		if (text) {
			text.setAttribute("x", x + 3);
			text.textContent = words;
		}
	}

	/* The root is at the bottom: what carries the zoomed box has a larger y and covers its whole range. */
	function zoom(box) {
		zoomed = box;
		reset.style.display = box ? "" : "none";
		for (const b of boxes) {
			if (!box) {
				b.g.style.opacity = "";
				place(b, b.x, b.w);
				continue;
			}
			const below = b.y > box.y && b.x <= box.x + 0.001 && b.x + b.w >= box.x + box.w - 0.001;
			const inside = b.y <= box.y && b.x >= box.x - 0.001 && b.x + b.w <= box.x + box.w + 0.001;
			if (below) {
				b.g.style.opacity = 0.5;
				place(b, LEFT, WIDTH);
			} else if (inside) {
				b.g.style.opacity = "";
				place(b, LEFT + (b.x - box.x) * WIDTH / box.w, b.w * WIDTH / box.w);
			} else {
				b.g.style.display = "none";
			}
		}
	}

	/* Boxes below other matching boxes are part of them: only widths that are not covered yet count. */
	function search(words) {
		pattern = null;
		matched.textContent = "";
		try {
			pattern = words ? new RegExp(words, "i") : null;
		} catch (e) {
			matched.textContent = "not a regular expression: " + words;
		}
		const hits = [];
		for (const b of boxes) {
			const hit = pattern !== null && pattern.test(b.name);
			b.rect.setAttribute("fill", hit ? "#e600e6" : b.fill);
			if (hit)
				hits.push(b);
		}
		if (!pattern)
			return;
		hits.sort((a, b) => a.x - b.x || b.w - a.w);
		let sum = 0, end = -1;
		for (const b of hits) {
			if (b.x + b.w <= end + 0.001)
				continue;
			sum += b.x + b.w - Math.max(b.x, end);
			end = b.x + b.w;
		}
		matched.textContent = "Matched: " + (100 * sum / WIDTH).toFixed(1) + " %";
	}

	function ask() {
		if (pattern)
			return remember("search", "");
		const words = prompt("Search for (regular expression):", "");
		if (words !== null)
			remember("search", words);
	}

	/* The address keeps what is searched, so that a link shows the same. */
	function remember(key, value) {
		const hash = new URLSearchParams(location.hash.slice(1));
		if (value)
			hash.set(key, value);
		else
			hash.delete(key);
		location.hash = hash.toString();
		find.textContent = hash.get("search") ? "Reset search" : "Search";
		search(hash.get("search") || "");
	}

	function from_address() {
		const hash = new URLSearchParams(location.hash.slice(1));
		search(hash.get("search") || "");
		find.textContent = hash.get("search") ? "Reset search" : "Search";
		if (!hash.get("zoom"))
			return;
		let widest = null;
		for (const b of boxes)
			if (b.name.includes(hash.get("zoom")) && (!widest || b.w > widest.w))
				widest = b;
		zoom(widest);
	}

	const box_of = (target) => boxes.find((b) => b.g === target.closest("#boxes > g"));
	document.getElementById("boxes").addEventListener("click", (e) => zoom(box_of(e.target) || null));
	document.getElementById("boxes").addEventListener("mouseover", (e) => {
		const box = box_of(e.target);
		info.textContent = box ? box.name + "  " + box.weight : "";
	});
	svg.addEventListener("keydown", (e) => {
		if (e.key === "/" || ((e.ctrlKey || e.metaKey) && e.key === "f")) {
			e.preventDefault();
			ask();
		} else if (e.key === "Escape") {
			zoom(null);
		}
	});
	reset.addEventListener("click", () => zoom(null));
	find.addEventListener("click", ask);
	window.addEventListener("hashchange", from_address);
	reset.style.display = "none";
	find.style.display = "";
	if (location.hash)
		from_address();
})();
