
// Pools, as /status tells; each is explained when somebody asks.
const cards = new Map();

class Card {
  constructor(name) {
    this.name = name;
    this.view = "config";
    this.version = "3.5.0";
    this.tags = "";
    this.head = make("div", { class: "pool-head" });
    this.image = make("div");
    this.element = make("article", { class: "pool", "data-pool": name, "aria-label": "pool " + name }, this.head);
    this.addExplanation();
  }

  addExplanation() {
    const id = "explanation-" + this.name;
    this.button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": id, "aria-label": "What " + this.name + " serves" }, "What it serves");
    this.button.addEventListener("click", () => this.toggle());
    this.body = make("div", { class: "parts" });
    this.explanation = make("div", { class: "explanation", id, hidden: true }, this.tools(), this.body);
    this.element.append(this.explanation);
  }

  tools() {
    const group = make("fieldset", {}, make("legend", { class: "unseen" }, "View"));
    for (const [view, text] of [["config", "Whole config"], ["layered", "Layered"]]) {
      const radio = make("input", { type: "radio", name: "view-" + this.name, value: view, checked: view === this.view });
      radio.addEventListener("change", () => { this.view = view; this.load(); });
      group.append(make("label", {}, radio, text));
    }
    this.select = make("select", { name: "version-" + this.name, "aria-label": "Version of the Ignition spec" });
    this.select.addEventListener("change", () => { this.version = this.select.value; this.load(); });
    this.filter = make("input", { type: "search", name: "filter-" + this.name, placeholder: "filter by name", "aria-label": "Filter by name" });
    this.filter.addEventListener("input", () => this.narrow());
    return make("div", { class: "tools" }, group, make("label", {}, "Ignition ", this.select), this.filter);
  }

  toggle() {
    const isOpen = this.explanation.hidden;
    this.explanation.hidden = !isOpen;
    this.button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.load();
  }

  async load() {
    const wanted = this.view + " " + this.version;
    this.wanted = wanted;
    this.loaded = this.tags;
    let parts;
    try {
      const told = await ask("/explain/" + this.name + "?view=" + this.view + "&version=" + this.version);
      parts = explained(told);
    } catch (error) {
      parts = [problemBox(error)];
    }
    // An answer that comes late must not replace that of a later question.
    if (this.wanted !== wanted) return;
    this.body.replaceChildren(...parts);
    this.narrow();
  }

  narrow() {
    const text = this.filter.value.toLowerCase();
    for (const section of this.body.querySelectorAll(".group")) {
      let isAny = false;
      for (const item of section.querySelectorAll(".item")) {
        item.hidden = text !== "" && !(item.dataset.name || "").toLowerCase().includes(text);
        isAny = isAny || !item.hidden;
      }
      section.hidden = !isAny;
    }
  }

  async loadImage() {
    try {
      const told = await ask("/explain/" + this.name + "?only=summary");
      const image = told.image || { problem: told.problem.detail };
      this.image.replaceChildren(imageLine(image));
    } catch (error) {
      this.image.replaceChildren(make("p", { class: "image" }, "Layered: " + error.message));
    }
  }

  // Draws what /status tells about the pool.
  update(pool) {
    const text = JSON.stringify(pool);
    if (text === this.told) return;
    this.told = text;
    const versions = Object.entries(pool.versions).reverse();
    const good = versions.filter(([, told]) => told.status === 200);
    const health = good.length === versions.length ? ["good", "✓ served"] : good.length > 0 ? ["warn", "◐ served in some versions"] : ["bad", "✕ not served"];
    const line = make("div", { class: "pool-line" }, make("h3", {}, pool.name), make("span", { class: "pill " + health[0] }, health[1]), pool.config ? make("span", { class: "config mono" }, pool.config) : null, this.button);
    const list = make("ul", { class: "versions", "aria-label": "Versions of the Ignition spec" });
    const reasons = new Map();
    for (const [version, told] of versions) {
      const isGood = told.status === 200;
      list.append(make("li", { class: isGood ? "" : "no" }, version + " ", make("b", {}, isGood ? bytes(told.bytes) || "✓" : "✕ " + told.status)));
      if (!isGood) reasons.set(told.detail, [...(reasons.get(told.detail) || []), version]);
    }
    const why = [...reasons].map(([detail, of]) => make("p", { class: "reason" }, of.length === versions.length ? null : make("b", {}, of.join(", ") + " "), sentence(detail)));
    this.head.replaceChildren(line, list, ...why, this.image);
    if (this.select.options.length === 0) {
      this.select.append(...versions.map(([version]) => make("option", { value: version }, version)));
      this.select.value = this.version;
    }
    const tags = versions.map(([, told]) => told.etag || told.revision || told.detail).join(" ");
    // What keeps all of it from being served is said already.
    if (good.length === 0) this.image.replaceChildren();
    else if (tags !== this.tags) this.loadImage();
    this.tags = tags;
    if (!this.explanation.hidden && this.loaded !== tags) this.offerAgain();
  }

  // What somebody reads is not pulled away under their eyes.
  offerAgain() {
    const button = make("button", { type: "button" }, "Show what is served now");
    button.addEventListener("click", () => this.load());
    this.body.prepend(make("p", { class: "withheld", role: "status" }, "The pool has changed since. ", button));
    this.loaded = this.tags;
  }
}

function showStatus(status) {
  find("version").textContent = status.version;
  const ready = find("ready");
  const isGood = status.ready && status.problems.length === 0;
  ready.className = "pill " + (!status.ready ? "bad" : isGood ? "good" : "warn");
  ready.textContent = !status.ready ? "✕ not ready" : isGood ? "✓ ready" : "◐ ready, with problems";
  find("insecure").hidden = status.insecure.length === 0;
  if (status.insecure.join() !== find("insecure").dataset.text) {
    find("insecure").dataset.text = status.insecure.join();
    find("insecure").replaceChildren(make("strong", {}, "⚠ INSECURE"), ...status.insecure.map((text) => make("p", {}, sentence(text))));
  }
  find("problems").hidden = status.problems.length === 0;
  find("problems").querySelector("ul").replaceChildren(...status.problems.map((text) => make("li", {}, sentence(text))));
  const list = find("pool-list");
  const names = status.pools.map((pool) => pool.name);
  for (const name of cards.keys()) if (!names.includes(name)) cards.delete(name);
  const elements = status.pools.map((pool) => {
    if (!cards.has(pool.name)) cards.set(pool.name, new Card(pool.name));
    cards.get(pool.name).update(pool);
    return cards.get(pool.name).element;
  });
  const isSame = elements.length === list.children.length && elements.every((element, index) => list.children[index] === element);
  if (elements.length === 0) list.replaceChildren(make("p", { class: "empty" }, "There are no pools yet."));
  else if (!isSame) list.replaceChildren(...elements);
}

async function keepStatus() {
  try {
    showStatus(await ask("/status"));
  } catch (error) {
    find("ready").className = "pill bad";
    find("ready").textContent = "✕ " + error.message;
  }
  setTimeout(keepStatus, document.hidden ? 30000 : 5000);
}

find("leave").hidden = who.kind === "open";
find("scope").textContent = seesAll ? "" : "your token is for: " + ownPools.join(", ");
keepStatus();
follow();
