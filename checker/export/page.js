"use strict";
// Draws the frames of one counterexample and steps through them. All text goes in as text, never as markup.
(() => {
  const film = JSON.parse(document.getElementById("film").textContent);
  const last = film.frames.length - 1;
  const PACE = 1800; // milliseconds a step while playing
  const byId = (id) => document.getElementById(id);

  function make(tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function within(parent, ...children) {
    parent.append(...children.filter((child) => child));
    return parent;
  }

  const fresh = (is) => (is ? " fresh" : "");

  // One lane: who it is, its track of blocks, and what else there is to read.

  function lane(drawn) {
    const classes = `lane${drawn.dimmed ? " dimmed" : ""}${drawn.changed ? " changed" : ""}`;
    const who = within(make("div", "who"), make("span", "name", drawn.name), ...drawn.badges.map(badge));
    return within(make("div", classes), who, drawn.cells && track(drawn), facts(drawn.facts));
  }

  function badge([text, role, isNew]) {
    return make("span", `badge ${role}${fresh(isNew)}`, text);
  }

  function facts(listed) {
    if (!listed.length) return null;
    const item = ([name, text, isNew]) => make("li", isNew ? "fresh" : "", `${name}: ${text}`);
    return within(make("ul", "facts"), ...listed.map(item));
  }

  function track(drawn) {
    const element = make("div", "track");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", drawn.says);
    element.style.setProperty("--labels", Math.max(1, drawn.marks.length));
    const empty = Math.max(0, film.width - drawn.cells.length);
    const slots = Array.from({ length: empty }, () => make("div", "slot"));
    const offsets = Array.from({ length: film.width }, (_, offset) => make("div", "offset", offset));
    return within(
      element,
      within(make("div", "cells"), ...drawn.cells.map(cell), ...slots),
      within(make("div", "offsets"), ...offsets),
      ...drawn.marks.map(mark),
    );
  }

  function cell([text, note, colour, sign, meaning, state]) {
    const look = state === "dropped" ? "" : ` c${note ? colour % 8 : "x"}`;
    const element = within(make("div", `cell${look} ${state}`), make("b", "", text), make("small", "", note));
    if (state === "dropped") element.title = "taken off in this step";
    if (sign) within(element, make("span", "sign", sign)).title = meaning;
    return element;
  }

  function mark([offset, name, label, isMoved], row) {
    const element = make("div", `mark${row ? " other" : ""}${isMoved ? " moved" : ""}`);
    element.style.left = `calc(${offset} * var(--cell) + 1px)`;
    element.style.top = `${row * 1.1}rem`;
    element.title = `${name} ${offset}`;
    return within(element, make("span", "", `${label} ${offset}`));
  }

  // One frame: its lanes, and exactly what changed.

  function frame(shown, number) {
    const element = make("section", "frame");
    element.setAttribute("aria-label", `State after step ${number}`);
    const title = make("h3", "", number ? `${number}. ${shown.sentence}` : shown.sentence);
    return within(element, title, ...shown.lanes.map(lane), changes(shown));
  }

  function changes(shown) {
    if (!shown.step) return null;
    const list = make("dl", "changes");
    for (const [path, before, after] of shown.changes) {
      within(list, make("dt", "path", path), change(before, after));
    }
    return within(make("details"), within(make("summary", "", "This step exactly: "), make("span", "step", shown.step)), list);
  }

  function change(before, after) {
    return within(make("dd", "path"), make("del", "", before), " → ", make("ins", "", after));
  }

  // The stepper.

  const frames = film.frames.map(frame);
  const links = [...byId("timeline").querySelectorAll("a")];
  let current = 0;
  let timer = 0;

  function show(number) {
    current = Math.min(Math.max(number, 0), last);
    frames.forEach((element, position) => element.classList.toggle("current", position === current));
    const { sentence } = film.frames[current];
    if (byId("sentence").textContent !== sentence) byId("sentence").textContent = sentence;
    byId("position").textContent = `${current} of ${last}`;
    byId("slider").value = current;
    byId("slider").setAttribute("aria-valuetext", `${current} of ${last}: ${sentence}`);
    for (const id of ["first", "back"]) byId(id).disabled = current === 0;
    for (const id of ["next", "last"]) byId(id).disabled = current === last;
    byId("play").disabled = last === 0;
    if (byId("reason")) byId("reason").hidden = current !== last;
    markTimeline();
    if (location.hash !== `#${current}`) history.replaceState(null, "", `#${current}`);
    if (current === last) stop();
  }

  function markTimeline() {
    links.forEach((link, position) => {
      if (position === current) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    const list = document.querySelector("nav"), link = links[current];
    if (list.scrollHeight > list.clientHeight) list.scrollTop = link.offsetTop - list.clientHeight / 2;
  }

  function go(number) {
    stop();
    show(number);
  }

  function play() {
    if (timer) return stop();
    if (current === last) show(0);
    timer = setInterval(() => show(current + 1), PACE);
    label("❚❚ Pause", "Pause");
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    label("▶ Play", "Play");
  }

  function label(text, name) {
    byId("play").textContent = text;
    byId("play").setAttribute("aria-label", name);
  }

  function fromAddress() {
    const number = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : 0;
    go(number);
  }

  const KEYS = {
    ArrowLeft: () => go(current - 1),
    ArrowRight: () => go(current + 1),
    Home: () => go(0),
    End: () => go(last),
    " ": play,
  };

  function pressed(event) {
    const isOurs = event.key in KEYS && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isForButton = event.key === " " && event.target.closest("button, a, summary");
    if (!isOurs || isForButton) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  byId("frames").append(...frames);
  byId("first").addEventListener("click", KEYS.Home);
  byId("back").addEventListener("click", KEYS.ArrowLeft);
  byId("next").addEventListener("click", KEYS.ArrowRight);
  byId("last").addEventListener("click", KEYS.End);
  byId("play").addEventListener("click", play);
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  addEventListener("keydown", pressed);
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => byId("reason") && (byId("reason").hidden = false));
  addEventListener("afterprint", () => show(current));
  byId("player").hidden = false;
  document.body.classList.add("ready");
  fromAddress();
})();
