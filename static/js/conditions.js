"use strict";
/* Conditions on answers, evaluated as studies/questionnaires/conditions.py does; tests/data/conditions.json holds the
   cases on which both agree. `valuesOf(name)` returns what the controls of that name hold, as a list of texts. */
window.parallaxConditions = (() => {
  const number = (text) => Number(String(text).replace(",", "."));
  const isEqual = (a, b) => a === b || (a !== "" && number(a) === number(b));
  const relations = {
    equals: ([a], b) => isEqual(a, b),
    differs: ([a], b) => !isEqual(a, b),
    one_of: ([a], options) => options.some((b) => isEqual(a, b)),
    includes: (values, b) => values.includes(b),
    below: ([a], b) => number(a) < number(b),
    at_most: ([a], b) => number(a) <= number(b),
    above: ([a], b) => number(a) > number(b),
    at_least: ([a], b) => number(a) >= number(b),
  };
  const holds = (node, valuesOf) => {
    if (typeof node === "boolean") return node;
    if ("all" in node) return node.all.every((part) => holds(part, valuesOf));
    if ("any" in node) return node.any.some((part) => holds(part, valuesOf));
    if ("not" in node) return !holds(node.not, valuesOf);
    const values = valuesOf(node.q);
    if (node.is === "answered") return (values.length > 0) === (node.v === "yes");
    return values.length > 0 && relations[node.is](values, node.v);
  };
  return { holds, number };
})();
