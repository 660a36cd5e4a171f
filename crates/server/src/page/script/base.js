"use strict";

// Texts of configs and machines become text nodes, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const find = (id) => document.getElementById(id);
const who = document.body.dataset;
const seesAll = who.kind !== "pools";
const ownPools = (who.pools || "").split(" ").filter((name) => name !== "");

// How far the clock of the server is ahead of this one; its seconds are not told finer.
let clockAhead = 0;

function tune(response) {
  const told = Date.parse(response.headers.get("date") || "");
  const ahead = told - Date.now();
  clockAhead = Math.abs(ahead) > 3000 ? ahead : 0;
}

function bytes(count) {
  if (count === null || count === undefined) return "";
  if (count < 1024) return count + " B";
  if (count < 1024 * 1024) return (count / 1024).toFixed(count < 10240 ? 1 : 0) + " KiB";
  return (count / 1024 / 1024).toFixed(1) + " MiB";
}

function age(time) {
  const seconds = Math.max(0, Math.floor((Date.now() + clockAhead - Date.parse(time)) / 1000));
  if (seconds < 100) return seconds + " s";
  if (seconds < 100 * 60) return Math.floor(seconds / 60) + " min";
  if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + " h";
  return Math.floor(seconds / 86400) + " days";
}

function plural(count, one, many) {
  return count + " " + (count === 1 ? one : many);
}

// Asks for JSON; what is wrong is an error whose message a person can read.
async function ask(path) {
  let response;
  try {
    response = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
  } catch {
    throw new Error("the server cannot be reached");
  }
  tune(response);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(body.detail || "the server answers with " + response.status);
    error.status = response.status;
    error.hint = body.hint;
    throw error;
  }
  return body;
}

setInterval(() => {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const text = age(element.dateTime);
    if (element.textContent !== text) element.textContent = text;
  }
}, 1000);
