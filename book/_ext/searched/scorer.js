// Words of a question that do not name its subject, and that a page need not contain.
stopwords.push(
  ..."a about above after all am any below best between by can cannot could compared define does do explain from get has have how i idea in instead it its like make mean means much my need on one or our own set should so start starts than them this under still too use used using versus vs want what when where which who why without work works wrong you your".split(" "),
);

// Sections answer; a claim's page and the reference are what one comes to from there.
const RANKS = [["notebooks/", 4], ["claims/", -3], ["book/api", -8], ["book/known-since", -1], ["book/errata", -1]];

// Sphinx takes the best word of a query; the more of them stand in a page's title, or in what else it is searched by,
// the nearer it is.
const stems = text => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(word => word && !stopwords.includes(word))
  .map(word => new Stemmer().stemWord(word.replaceAll("iz", "is")));
const asked = new Set(stems(new URLSearchParams(location.search).get("q") ?? ""));

const names = {};
const namesOf = page => {
  if (!Object.keys(names).length)
    for (const [entry, places] of Object.entries(Search._index.indexentries))
      for (const [file] of places) (names[Search._index.docnames[file]] ??= []).push(...stems(entry));
  return names[page] ?? [];
};

// How much a page is about the words of the query, from 0 to 1: rare words count for more, and so does a word that it
// repeats, with less and less gain from each time. (`counted`: by page, its title, how often it has each word, and its terms.)
const rarity = word => Math.log(1 + Object.keys(counted).length / (1 + Object.values(counted).filter(([, of]) => of[word]).length));
const about = page => {
  const words = [...asked], all = words.reduce((sum, word) => sum + rarity(word), 0);
  const share = word => { const many = counted[page]?.[1][word] ?? 0; return many / (many + 4); };
  return words.reduce((sum, word) => sum + rarity(word) * share(word), 0) / (all || 1);
};
const terms = page => (counted[page]?.[2] ?? []).map(stems);
const named = page => new Set([...stems(counted[page]?.[0] ?? ""), ...namesOf(page), ...terms(page).flat()]);
// A term that is asked for as it stands.
const wholly = page => 20 * terms(page).some(words => new Set(words).size === asked.size && words.every(word => asked.has(word)));
const met = page => [...asked].filter(word => named(page).has(word)).length;
const ranked = page => RANKS.find(([start]) => page.startsWith(start))?.[1] ?? 0;

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
    const words = stems(title), own = new Set([...words, ...namesOf(page)].filter(word => asked.has(word))).size;
    return score + ranked(page) + 6 * own + own / (words.length || 1) + 24 * about(page) + wholly(page);
  },
};

// Sphinx finds pages that have all words. One that is about most of them answers as well.
const searched = Search._performSearch;
Search._performSearch = (...query) => {
  const found = searched(...query), there = new Set(found.map(([page]) => page));
  for (const [page, [title]] of Object.entries(counted)) {
    const score = ranked(page) + 6 * met(page) + 24 * about(page) + wholly(page);
    if (!there.has(page) && score - ranked(page) > 6)
      found.push([page, title, "", null, score, Search._index.filenames[Search._index.docnames.indexOf(page)]]);
  }
  return found.sort((a, b) => a[4] - b[4]);
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
