
// Machines, as the stream of events tells.
const nodes = new Map();
const rows = new Map();
const MOST_ROWS = 500;
let isDue = false;

const keyOf = (node) => node.pool + " " + node.node;
const rank = (node) => (node.stalled ? 0 : node.phase === "done" ? 2 : 1);

function isBefore(one, other) {
  return rank(one) - rank(other) || one.pool.localeCompare(other.pool) || one.node.localeCompare(other.node, undefined, { numeric: true });
}

function cell(label, kind, ...children) {
  const isBlank = children.every((child) => child === null || child === "");
  return make("td", { class: (kind + (isBlank ? " blank" : "")).trim(), "data-label": label }, ...children.map((child) => (child instanceof Node ? child : make("span", {}, child ?? ""))));
}

function phase(node) {
  const text = make("span", {}, make("span", {}, node.phase));
  if (node.step) text.append(make("span", { class: "step" }, " › " + node.step));
  if (node.stalled) text.append(make("span", { class: "pill warn" }, "⚠ stalled"));
  if (node.phase === "done") text.append(make("span", { class: "pill good" }, "✓"));
  return text;
}

function row(node) {
  const time = (value) => make("time", { datetime: value, title: value }, age(value));
  return make(
    "tr",
    { class: node.stalled ? "stalled" : node.phase === "done" ? "done" : "", "data-node": node.node },
    cell("Machine", "name", node.node),
    cell("Pool", "", node.pool),
    cell("Phase", "phase", phase(node)),
    cell("Attempt", "", node.attempt === undefined ? "" : String(node.attempt)),
    cell("Cause", "cause", node.cause || ""),
    cell("There for", "time", time(node.since)),
    cell("Last heard", "time", time(node.last)),
  );
}

function showNodes() {
  isDue = false;
  const sorted = [...nodes.values()].sort(isBefore);
  const shown = sorted.slice(0, MOST_ROWS);
  const kept = new Map();
  const list = shown.map((node) => {
    const text = JSON.stringify(node);
    const before = rows.get(keyOf(node));
    const entry = before && before.text === text ? before : { text, element: row(node) };
    if (entry !== before && before) entry.element.classList.add("fresh");
    kept.set(keyOf(node), entry);
    return entry.element;
  });
  rows.clear();
  for (const [key, entry] of kept) rows.set(key, entry);
  find("nodes").tBodies[0].replaceChildren(...list);
  find("nodes").hidden = sorted.length === 0;
  find("nobody").hidden = sorted.length !== 0;
  find("more").hidden = sorted.length <= MOST_ROWS;
  find("more").textContent = "and " + (sorted.length - shown.length) + " more; all are at /progress";
  const stalled = sorted.filter((node) => node.stalled).length;
  const done = sorted.filter((node) => node.phase === "done").length;
  const parts = [stalled + " stalled", sorted.length - stalled - done + " under way", done + " done"];
  find("counts").textContent = sorted.length === 0 ? "" : parts.join(" · ");
}

function nodesChanged() {
  // Many changes at once are shown at once; a page that nobody looks at shows them later.
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(showNodes);
  }
}

function streamState(kind, text) {
  const stream = find("stream");
  stream.className = "stream " + kind;
  stream.textContent = text;
}

function follow() {
  const source = new EventSource("/progress");
  source.addEventListener("open", () => streamState("live", "live"));
  source.addEventListener("nodes", (event) => {
    nodes.clear();
    for (const node of JSON.parse(event.data)) nodes.set(keyOf(node), node);
    nodesChanged();
  });
  source.addEventListener("node", (event) => {
    const node = JSON.parse(event.data);
    nodes.set(keyOf(node), node);
    nodesChanged();
  });
  source.addEventListener("error", () => {
    streamState("lost", "connection lost, trying again; what you see may be old");
    // A browser gives up by itself when it was answered, but not with a stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(again, 3000);
  });
}

async function again() {
  try {
    await ask("/progress");
  } catch (error) {
    if (error.status === 401 || error.status === 511) {
      streamState("lost", "the token is not valid any more: load the page again and log in");
      return;
    }
    setTimeout(again, 3000);
    return;
  }
  follow();
}
