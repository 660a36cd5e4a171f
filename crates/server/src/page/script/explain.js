
// What a pool serves, part by part.
function tagOf(origin) {
  if (!origin) return null;
  return make("span", { class: "tag " + origin.by, title: origin.why }, origin.by === "server" ? "added by the server" : "config");
}

function facts(pairs) {
  const list = make("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    list.append(make("dt", {}, name), make("dd", {}, value));
  }
  return list;
}

const code = (text) => make("code", {}, text);
const because = (text, why) => (why ? text + ": " + why : text);

function content(shown) {
  const parts = [];
  if (shown.kind === "text") {
    parts.push(make("pre", { tabindex: "0" }, shown.text === "" ? "(empty)" : shown.text));
    if (shown.hidden_values) parts.push(make("p", { class: "withheld" }, "Hidden here: " + shown.hidden_values + ". " + sentence(shown.why)));
  } else if (shown.kind === "remote") {
    const headers = shown.headers.length === 0 ? "" : "; headers sent, values hidden: " + shown.headers.join(", ");
    const check = shown.is_verified ? "; checked by its hash" : "; not checked by a hash";
    parts.push(make("p", {}, "Fetched by the machine from ", code(shown.url), check + headers));
  } else if (shown.kind === "hidden") {
    parts.push(make("p", { class: "withheld" }, "Hidden: " + shown.why + "."));
  } else {
    parts.push(make("p", { class: "aside" }, "Not shown: " + shown.why + "."));
  }
  return parts;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + ".";
}

// Something that opens; its inside is made when somebody looks.
function opens(name, line, inside) {
  const element = make("details", { class: "item", "data-name": name }, make("summary", { class: "row" }, ...line));
  element.addEventListener("toggle", () => {
    if (element.open && element.children.length === 1) element.append(make("div", { class: "inner" }, ...inside()));
  });
  return element;
}

function plain(name, ...line) {
  return make("div", { class: "item row", "data-name": name }, ...line);
}

const what = (text) => make("code", { class: "what" }, text);
const fact = (text) => (text ? make("span", { class: "fact" }, text) : null);
const secret = (shown) => (shown.kind === "hidden" || shown.hidden_values ? make("span", { class: "tag hidden" }, "hidden" + (shown.kind === "hidden" ? "" : " in part")) : null);

function file(entry) {
  return opens(entry.path, [what(entry.path), secret(entry.content), fact(entry.mode), fact(bytes(entry.size)), tagOf(entry.origin)], () => [
    facts([
      ["Comes from", because(entry.origin.text, entry.origin.why)],
      ["Belongs", because(entry.place.text, entry.place.why)],
      ["Mode, owner", entry.mode + (entry.owner ? ", " + entry.owner : "")],
      ["SHA-256", entry.sha256 ? code(entry.sha256) : secret(entry.content) ? "hidden: a short secret could be guessed by it" : null],
    ]),
    ...content(entry.content),
    ...entry.appended.flatMap((part) => [make("p", { class: "aside" }, "appended:"), ...content(part)]),
  ]);
}

function node(entry) {
  const target = entry.target ? " → " + entry.target : "";
  return opens(entry.path, [what(entry.path + target), fact(entry.mode), tagOf(entry.origin)], () => [
    facts([
      ["Comes from", because(entry.origin.text, entry.origin.why)],
      ["Belongs", because(entry.place.text, entry.place.why)],
      ["Owner", entry.owner],
    ]),
  ]);
}

function unit(entry) {
  const state = entry.masked ? "masked" : entry.enabled === true ? "enabled" : entry.enabled === false ? "disabled" : "as the preset says";
  const drops = entry.dropins.length === 0 ? null : plural(entry.dropins.length, "drop-in", "drop-ins");
  return opens(entry.name, [what(entry.name), secret(entry.content), fact(state), fact(drops), tagOf(entry.origin)], () => [
    facts([
      ["Comes from", because(entry.origin.text, entry.origin.why)],
      ["Belongs", because(entry.place.text, entry.place.why)],
    ]),
    ...content(entry.content),
    ...entry.dropins.flatMap((dropin) => [make("p", { class: "aside" }, "drop-in ", code(dropin.name)), ...content(dropin.content)]),
  ]);
}

function user(entry) {
  const parts = [plural(entry.ssh_keys, "SSH key", "SSH keys"), entry.has_password ? "has a password (hidden)" : "no password"];
  if (entry.removed) parts.unshift("removed");
  return plain(entry.name, what(entry.name), fact(parts.join(" · ")), fact((entry.groups || []).join(", ")));
}

function argument(entry) {
  return plain(entry.argument, what(entry.argument), fact(entry.action === "remove" ? "removed" : "added"), fact("from " + entry.from), fact(entry.place.text));
}

function disk(entry) {
  const parts = [entry.kind, entry.format, entry.partitions ? plural(entry.partitions, "partition", "partitions") : null, entry.path];
  const tag = entry.hidden ? make("span", { class: "tag hidden" }, "hidden: " + entry.hidden) : null;
  return plain(entry.name, what(entry.name || ""), fact(parts.filter((part) => part).join(" · ")), tag);
}

function leftOut(entry) {
  return plain(entry.name, what(entry.name), fact(entry.kind), fact(entry.place.why));
}

function group(title, entries, draw, note) {
  if (!entries || entries.length === 0) return null;
  const heading = make("h4", {}, title + " ", make("span", {}, entries.length + (note ? " · " + note : "")));
  return make("section", { class: "group" }, heading, make("div", { class: "items" }, ...entries.map(draw)));
}

function problemBox(problem) {
  return make("div", { class: "problem", role: "alert" }, make("p", {}, sentence(problem.detail || problem.message)), problem.hint ? make("p", {}, "What to do: " + problem.hint + ".") : null);
}

function imageLine(image) {
  if (!image) return null;
  if (image.problem) return make("p", { class: "image" }, "Layered: not served, because " + image.problem + ".");
  return make("p", { class: "image" }, "Layered image: ", code(image.name), ", named by " + image.from);
}

function explained(told) {
  if (told.problem) return [problemBox(told.problem)];
  const system = told.system;
  const isLayered = told.view === "layered";
  return [
    facts([
      ["Asked for at", code("/" + told.view + "/" + told.pool)],
      ["Made of", told.config ? code(told.config) : null],
      ["Size, tag", told.etag ? bytes(told.bytes) + ", " + told.etag : null],
      ["Image", isLayered ? code(told.image.name) : null],
      ["Named by", isLayered ? told.image.from : null],
      ["Holds bootlace", isLayered && told.image.bootlace !== told.image.name ? code(told.image.bootlace) : null],
      ["OS image", system.os_image && !isLayered ? code(system.os_image) : null],
      ["Kernel", system.kernel_type],
      ["FIPS", system.fips ? "yes" : null],
      ["Extensions", (system.extensions || []).join(", ")],
      ["Note", told.note],
    ]),
    group("Files", told.files, file),
    group("Directories", told.directories, node),
    group("Links", told.links, node),
    group("Units", told.units, unit),
    group("Users", told.users, user),
    group("Groups", told.groups, (name) => plain(name, what(name))),
    group("Kernel arguments", told.kernel_arguments, argument),
    group("Disks", told.disks, disk),
    group("Fetched besides", told.fetches, (entry) => plain(entry.from, what(entry.from), fact(entry.what))),
    group("Left to the image", told.left_to_the_image, leftOut, "not served here, because the image holds it"),
  ].filter((part) => part !== null);
}
