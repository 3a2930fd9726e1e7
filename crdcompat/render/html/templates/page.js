(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const form = byId("filters");
  const items = [...document.querySelectorAll(".item")];
  document.documentElement.classList.add("js");

  // The form lists what can be filtered by, in the order of the rows' numbers.
  const facets = form ? [...form.querySelectorAll("[data-facet]")].map((element) => new Facet(element)) : [];
  const rows = JSON.parse(byId("facts").textContent);
  // An item can list several findings: all numbers on the page count findings.
  const sizes = rows.map(([size]) => size);
  const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
  const query = byId("q");
  const what = form ? form.getAttribute("aria-label").replace("Filter the ", "") : "";
  let texts = null;

  function Facet(element) {
    this.key = element.dataset.facet;
    this.boxes = [...element.querySelectorAll("input")];
    this.options = this.boxes.length ? [] : [...element.options].slice(1);
    this.select = this.boxes.length ? null : element;
    this.values = this.boxes.length ? this.boxes.map((box) => box.value) : this.options.map((option) => option.value);
    this.chosen = () => {
      const picked = this.select
        ? [this.select.selectedIndex - 1]
        : this.boxes.map((box, index) => (box.checked ? index : -1));
      return new Set(picked.filter((index) => index >= 0));
    };
    this.choose = (names) => {
      this.boxes.forEach((box) => { box.checked = names.includes(box.value); });
      if (this.select) this.select.selectedIndex = this.values.indexOf(names[0]) + 1;
    };
    this.count = (counts) => {
      this.boxes.forEach((box, index) => {
        box.parentElement.querySelector(".count").textContent = counts[index];
      });
      this.options.forEach((option, index) => {
        option.textContent = `${option.dataset.name} (${counts[index]})`;
        option.disabled = counts[index] === 0 && !option.selected;
      });
    };
  }

  const groups = [...document.querySelectorAll(".group")].map((element) => ({
    element,
    shown: element.querySelector(".part-shown"),
  }));
  const groupOf = new Map(groups.map((group, index) => [group.element, index]));
  // Findings from before a change are folded, and found only if their status is chosen.
  const status = facets.findIndex((facet) => facet.key === "status");
  const held = items.map((item) => status >= 0 && item.closest(".held") !== null);
  const groupNumbers = items.map((item) => groupOf.get(item.closest(".group")));
  groups.forEach((group, at) => { group.total = sum(sizes.filter((_, number) => groupNumbers[number] === at)); });
  const ways = [...document.querySelectorAll(".way")];
  const directions = [...document.querySelectorAll(".direction")].filter((each) => each.querySelector(".group"));

  function apply() {
    const chosen = facets.map((facet) => facet.chosen());
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) texts = items.map((item) => item.textContent.toLowerCase());
    const counts = facets.map((facet) => facet.values.map(() => 0));
    const inGroup = groups.map(() => 0);
    const narrowed = words.length > 0 || chosen.some((set) => set.size);
    let shown = 0;
    let holding = 0;
    items.forEach((item, number) => {
      const numbers = rows[number].slice(1).map((value) => (Array.isArray(value) ? value : [value]));
      const failing = [];
      chosen.forEach((set, at) => {
        const asked = set.size ? numbers[at].some((value) => set.has(value)) : at !== status || !held[number];
        if (!asked) failing.push(at);
      });
      const said = words.every((word) => texts[number].includes(word));
      // A value's count is of what would be shown if it were chosen, too.
      if (said && failing.length < 2) {
        const at = failing.length ? failing : counts.keys();
        for (const facet of at) for (const value of numbers[facet]) counts[facet][value] += 1;
      }
      const counted = said && !failing.length;
      const kept = held[number] && !chosen[status].size;
      const visible = counted || (kept && !narrowed);
      if (item.hidden === visible) item.hidden = !visible;
      shown += counted && sizes[number];
      holding += kept && said && failing.length === 1 && sizes[number];
      inGroup[groupNumbers[number]] += visible && sizes[number];
    });
    facets.forEach((facet, at) => facet.count(counts[at]));
    groups.forEach((group, at) => {
      group.element.hidden = inGroup[at] === 0;
      group.shown.textContent = inGroup[at] < group.total ? `(${inGroup[at]} shown)` : "";
      if (group.element.localName === "details") group.element.open = narrowed && inGroup[at] > 0;
    });
    directions.forEach((each) => { each.hidden = !each.querySelector(".group:not([hidden])"); });
    ways.forEach((way) => {
      const any = way.querySelector(".item:not([hidden])") !== null;
      way.hidden = narrowed && !any;
      if (narrowed) way.open = any;
    });
    const total = sum(sizes.filter((_, number) => chosen[status]?.size || !held[number]));
    const more = holding ? `; ${holding} more from before this change (status: existing)` : "";
    byId("shown").textContent = (narrowed ? `Showing ${shown} of ${total} ${what}` : `${total} ${what}`) + more;
    byId("nothing").hidden = shown > 0;
  }

  // The address has the state, so that a link or a reload shows the same.
  function remember() {
    const state = new URLSearchParams();
    facets.forEach((facet) => {
      const names = [...facet.chosen()].map((index) => facet.values[index]);
      names.forEach((name) => state.append(facet.key, name));
    });
    if (query.value) state.set("text", query.value);
    const hash = state.toString();
    try {
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    } catch {
      // Where a viewer allows no change of the address, filters work without.
    }
  }

  function recall() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return show(hash);
    if (!form) return;
    const state = new URLSearchParams(hash);
    facets.forEach((facet) => facet.choose(state.getAll(facet.key)));
    query.value = state.get("text") || "";
    const more = form.querySelector(".more");
    if (more && [...more.querySelectorAll("[data-facet]")].some((each) => state.has(each.dataset.facet))) more.open = true;
    apply();
  }

  function show(id) {
    const target = byId(id);
    if (!target) return;
    if (form && target.closest("[hidden]")) {
      form.reset();
      apply();
    }
    for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    const reach = () => {
      target.scrollIntoView();
      (target.localName === "details" ? target.querySelector("summary") : target).focus({ preventScroll: true });
    };
    // A page that is still loading goes to the address' place itself, and takes the focus away.
    if (document.readyState === "complete") reach();
    else addEventListener("load", () => setTimeout(reach));
  }

  async function copy(button) {
    const source = button.closest(".copyable").querySelector("pre");
    let done = false;
    try {
      await navigator.clipboard.writeText(`${source.textContent}\n`);
      done = true;
    } catch {
      // Not every place that shows a page lets it write to the clipboard.
      getSelection().selectAllChildren(source);
      done = document.execCommand("copy");
    }
    const before = button.dataset.label || button.textContent;
    button.dataset.label = before;
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    byId("said").textContent = button.textContent;
    setTimeout(() => { button.textContent = before; }, 2000);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (button) copy(button);
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) show(link.hash.slice(1));
  });
  window.addEventListener("hashchange", recall);

  if (form) {
    let waiting = 0;
    const change = () => { apply(); remember(); };
    form.addEventListener("change", (event) => { if (event.target !== query) change(); });
    query.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(change, 120); });
    form.addEventListener("submit", (event) => { event.preventDefault(); change(); });
    form.addEventListener("reset", () => setTimeout(change));
    const openAll = (open) => items.forEach((item) => { if (!item.hidden) item.open = open; });
    byId("open-all").addEventListener("click", () => openAll(true));
    byId("close-all").addEventListener("click", () => openAll(false));
    const more = form.querySelector(".more");
    const wide = matchMedia("(min-width: 64rem)");
    const unfold = () => { if (more && wide.matches) more.open = true; };
    wide.addEventListener("change", unfold);
    unfold();
    form.hidden = false;
  }

  // Where nothing can point, the first tap on a cell says why, the second one follows it.
  document.querySelectorAll(".grid td > a").forEach((cell) => {
    cell.addEventListener("pointerdown", (event) => {
      const first = event.pointerType === "touch" && document.activeElement !== cell;
      if (first) cell.addEventListener("click", (tap) => { tap.preventDefault(); cell.focus(); }, { once: true });
    });
  });

  const keys = byId("keys");
  byId("close-keys").addEventListener("click", () => keys.close());
  byId("show-keys")?.addEventListener("click", () => keys.showModal());

  // From one item to the next, over those that are on the screen or can be scrolled to.
  function step(by) {
    const stops = [...document.querySelectorAll("main :is(.item, .way)")].filter((each) => each.checkVisibility());
    const at = stops.indexOf(document.activeElement.closest(".item, .way"));
    const next = stops[at < 0 ? 0 : Math.min(Math.max(at + by, 0), stops.length - 1)];
    if (!next) return;
    const summary = next.querySelector("summary");
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  }

  const pressed = {
    "/": () => { if (form) query.focus(); },
    "?": () => keys.showModal(),
    j: () => step(1),
    k: () => step(-1),
  };
  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches('input[type="search"], select');
    if (writing && event.key === "Escape" && !query.value) event.target.blur();
    if (writing || keys.open || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = pressed[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  if (form) apply();
  recall();
})();
