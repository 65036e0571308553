// The page of the REST API: "Try it" sends the request of an operation, and shows the answer.
"use strict";

const LONGEST = 20000; // characters of an answer that are shown
const SHOWN = ["Content-Type", "Location", "ETag", "Retry-After", "Deprecation", "Sunset"];

function requestOf(form) {
  const { method, path } = form.dataset;
  const token = document.getElementById("token").value.trim();
  const headers = token ? { Authorization: `Bearer ${token}` } : JSON.parse(document.body.getAttribute("hx-headers"));
  const query = new URLSearchParams();
  let address = path;
  for (const { name, value } of form.querySelectorAll("input")) {
    if (address.includes(`{${name}}`)) address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value && /^[A-Z]/.test(name)) headers[name] = value; // of the parameters, only headers begin so
    else if (value) query.append(name, value);
  }
  const options = { method, headers, credentials: token ? "omit" : "same-origin" };
  const body = form.querySelector("textarea");
  if (body) {
    headers["Content-Type"] = "application/json";
    options.body = body.value;
  }
  return fetch(query.size ? `${address}?${query}` : address, options);
}

async function textOf(response) {
  const lines = [`${response.status} ${response.statusText}`];
  for (const name of SHOWN) if (response.headers.has(name)) lines.push(`${name}: ${response.headers.get(name)}`);
  let body = await response.text();
  if (/json$/.test(response.headers.get("Content-Type") || "")) body = JSON.stringify(JSON.parse(body), null, 2);
  if (body.length > LONGEST) body = `${body.slice(0, LONGEST)}\n… ${body.length - LONGEST} more characters`;
  return `${lines.join("\n")}\n\n${body}`;
}

for (const form of document.querySelectorAll("form.try")) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = form.querySelector("output");
    answer.textContent = "Sending …";
    try {
      answer.textContent = await textOf(await requestOf(form));
    } catch (problem) {
      answer.textContent = `The request could not be sent: ${problem.message}`;
    }
  });
}
