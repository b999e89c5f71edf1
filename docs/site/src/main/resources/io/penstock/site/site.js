// SPDX-License-Identifier: Apache-2.0
"use strict";
// Light and dark: before the page is painted, what the reader chose last.
const root = document.documentElement;
const kept = {
  get: () => { try { return localStorage.getItem("penstock-theme"); } catch (e) { return null; } },
  set: theme => { try { localStorage.setItem("penstock-theme", theme); } catch (e) { /* for this page only */ } },
};
const asked = new URLSearchParams(location.search).get("theme") || kept.get();
if (asked === "light" || asked === "dark") {
  root.dataset.theme = asked;
}

var penstockIndex;                            // set by search-index.js: [url, anchor, page, section, text] each

/** Sections that have all words, best first: words in titles count more than words in the text. */
function search(query) {
  const words = query.toLowerCase().split(/\s+/).filter(word => word);
  const found = [];
  for (const [url, anchor, page, section, text] of words.length ? penstockIndex : []) {
    const title = (page + " " + section).toLowerCase();
    const body = text.toLowerCase();
    let score = 0;
    for (const word of words) {
      const inTitle = title.includes(word);
      const at = body.indexOf(word);
      if (!inTitle && at < 0) {
        score = 0;
        break;
      }
      const isWhole = inTitle && (" " + title + " ").includes(" " + word + " ");
      score += (isWhole ? 30 : inTitle ? 15 : 0) + (at < 0 ? 0 : 1 + Math.min(6, body.split(word).length))
        + (section.toLowerCase().startsWith(word) ? 10 : 0);
    }
    if (score) {
      score *= /changelog|decisions|spec\//i.test(url) ? 0.5 : 1;
      found.push({score, url, anchor, page, section, text});
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, 15).map(hit => ({...hit, words}));
}

/** A part of a text around the first word found, the words marked. */
function marked(text, words) {
  const first = Math.min(...words.map(word => text.toLowerCase().indexOf(word)).filter(i => i >= 0));
  const start = isFinite(first) && first > 60 ? text.indexOf(" ", first - 60) + 1 : 0;
  const part = (start ? "… " : "") + text.slice(start, start + 170).replace(/ \S*$/, " …");
  const escaped = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const small = document.createElement("small");
  for (const piece of part.split(new RegExp("(" + escaped + ")", "i"))) {
    const node = words.includes(piece.toLowerCase()) ? document.createElement("mark") : document.createTextNode("");
    node.textContent = piece;
    small.append(node);
  }
  return small;
}

function searchBox() {
  const input = document.getElementById("search");
  const list = document.getElementById("found");
  const base = root.dataset.root;
  const load = () => {
    if (!penstockIndex && !document.getElementById("index")) {
      const script = document.createElement("script");
      script.id = "index";
      script.src = base + "search-index.js";
      script.onload = show;
      document.head.append(script);
    }
  };
  const show = () => {
    const query = input.value.trim();
    list.hidden = !query;
    if (!query || !penstockIndex) {
      return;
    }
    const hits = search(query);
    list.replaceChildren(...hits.map(hit => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = base + hit.url + (hit.anchor ? "#" + hit.anchor : "");
      const title = document.createElement("b");
      title.textContent = hit.section === hit.page ? hit.page : hit.page + " › " + hit.section;
      link.append(title, marked(hit.text, hit.words));
      item.append(link);
      return item;
    }));
    if (!hits.length) {
      const none = document.createElement("p");
      none.textContent = "Nothing found for “" + query + "”.";
      list.append(none);
    }
  };
  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); show(); });
  input.addEventListener("keydown", event => {
    const links = [...list.querySelectorAll("a")];
    const at = links.findIndex(link => link.classList.contains("at"));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const to = links[(at + (event.key === "ArrowDown" ? 1 : links.length - 1)) % links.length];
      links[at]?.classList.remove("at");
      to?.classList.add("at");
      to?.scrollIntoView({block: "nearest"});
      event.preventDefault();
    } else if (event.key === "Enter") {
      (links[at] || links[0])?.click();
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.blur();
    }
  });
  document.addEventListener("click", event => {
    if (!event.target.closest(".search") || event.target.closest("#found a")) {
      list.hidden = true;
    }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      input.focus();
      event.preventDefault();
    }
  });
  const query = new URLSearchParams(location.search).get("q");
  if (query) {
    input.value = query;
    load();
  }
}

document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    kept.set(root.dataset.theme);
  });
  for (const heading of document.querySelectorAll("main :is(h2, h3, h4)[id]")) {
    const link = document.createElement("a");
    link.className = "anchor";
    link.href = "#" + heading.id;
    link.textContent = "#";
    link.setAttribute("aria-label", "Link to this section");
    heading.append(link);
  }
  for (const block of document.querySelectorAll(".code")) {
    const copy = document.createElement("button");
    copy.className = "copy";
    copy.type = "button";
    copy.textContent = "Copy";
    copy.addEventListener("click", () => navigator.clipboard.writeText(block.querySelector("code").textContent)
      .then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Not copied"; }));
    block.append(copy);
  }
  document.querySelector("nav.pages [aria-current]")?.scrollIntoView({block: "center"});
  scrollTo(0, location.hash ? scrollY : 0);
  searchBox();
});
