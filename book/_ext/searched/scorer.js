// Words of a question that do not name its subject, and that a page need not contain.
stopwords.push(
  ..."a about above after all am any below best between by can cannot could compared define does do explain from get has have how i idea in instead it its like make mean means much my need on one or our own set should so start starts than them this under use used using versus vs want what when where which who why without work works wrong you your".split(" "),
);

// Sections answer; a claim's page and the reference are what one comes to from there.
const RANKS = [["notebooks/", 4], ["claims/", -3], ["book/api", -2], ["book/known-since", -1], ["book/errata", -1]];

// Sphinx takes the best word of a query; the more of them stand in a page's title, or in what else it is searched by,
// the nearer it is.
const stems = text => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(word => word && !stopwords.includes(word))
  .map(word => new Stemmer().stemWord(word));
const asked = new Set(stems(new URLSearchParams(location.search).get("q") ?? ""));

const names = {};
const namesOf = page => {
  if (!Object.keys(names).length)
    for (const [entry, places] of Object.entries(Search._index.indexentries))
      for (const [file] of places) (names[Search._index.docnames[file]] ??= []).push(...stems(entry));
  return names[page] ?? [];
};

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 3,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, , , score]) => {
    const named = stems(title);
    const met = new Set([...named, ...namesOf(page)].filter(word => asked.has(word))).size;
    const rank = RANKS.find(([start]) => page.startsWith(start)) ?? ["", 0];
    return score + rank[1] + 4 * met + met / (named.length || 1);
  },
};

// Under a result stands the sentence of the page in which most words of the question begin, if there is a choice one
// without a large formula. (Sphinx takes what stands around the last word, a letter n in the theme's buttons as well.)
Search.makeSearchSummary = (html, words) => {
  const page = new DOMParser().parseFromString(html, "text/html"), begins = [...words]
    .map(word => new RegExp(`(?<!\\p{L})${word.replace(/\W/g, "\\$&")}`, "iu"));
  const sentences = [...page.querySelectorAll("article p:not(.vt-exercise *, .vt-cite, h1 + :has(> em:only-child))")]
    .flatMap(part => part.textContent.replace(/\s+/g, " ").trim().split(/(?<=[.?!]) /));
  if (!sentences.length) return null;
  const worth = sentence => begins.filter(begin => begin.test(sentence)).length - /\\(?!log|sigma|[()])/.test(sentence) / 2;
  const best = sentences.reduce((a, b) => worth(b) > worth(a) ? b : a).replace(/\\[()]/g, "").replaceAll("\\", " ");
  const said = document.createElement("p");
  said.className = "context";
  said.textContent = best.length > 240 ? `${best.slice(0, 240)} …` : best;
  return said;
};
// Of one letter too many would be marked.
const read = Search._parseQuery;
Search._parseQuery = query => {
  const found = read(query);
  found[3].forEach(word => word.length > 1 || found[3].delete(word));
  return found;
};
