/* The order of search results: Sphinx's points, and of pages with as many, the frequently asked questions come first and decisions of developers last. */
globalThis.Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , points]) => points + (page === "faq" ? 2 : page.startsWith("adr/") ? -10 : 0),
};
