// How the search of the site orders its results: as Sphinx does, but the page of an attack comes first where its title has all words.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, , score]) => {
    const asked = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/\W+/).filter(Boolean);
    const words = title.toLowerCase().split(/\W+/), isAttack = page.startsWith("attacks/") && !anchor;
    return isAttack && asked.every(word => words.includes(word)) ? 1000 - words.length : score;
  },
};
