// A page as slides, where its address ends in ?slides. A heading begins a slide; what does not fit into it goes to the next.
// A slide is 1280 x 800, and on a screen that is higher than wide, such as a phone's, 700 x 1300.
const [WIDTH, HEIGHT] = innerHeight > innerWidth ? [700, 1300] : [1280, 800], LEAST = 0.5;  // LEAST: how far a block that is too high is made smaller

// The page's blocks in their order. Of a cell of a notebook the visible code and the outputs; closed things stay out.
const blocks = node => [...node.children].flatMap(one =>
  one.matches("details, .headerlink, .toctree-wrapper") ? []
  : one.matches("section, .cell, .cell_output:not(:has(.switcher))") ? blocks(one) : [one]);
const isHeading = block => /^H[1-6]$/.test(block.tagName);

function paginate(found, deck) {
  let slide, heading;
  const begin = () => {
    slide = document.createElement("section");
    deck.append(slide);
  };
  const fits = block => slide.scrollHeight <= HEIGHT && block.scrollWidth <= block.clientWidth;
  for (const block of found) {
    if (isHeading(block)) {
      if (!slide || [...slide.children].some(one => !isHeading(one))) begin();
      heading = block;
      slide.append(block);
      continue;
    }
    if (!slide) begin();
    slide.append(block);
    if (fits(block)) continue;
    if (slide.scrollHeight > HEIGHT && [...slide.children].filter(one => !isHeading(one)).length > 1) {
      begin();
      slide.append(heading.cloneNode(true), block);
    }
    for (let size = 0.95; !fits(block) && size > LEAST; size -= 0.05) block.style.zoom = size;
  }
}

function show() {
  const deck = document.createElement("article"), bar = document.createElement("nav");
  const found = blocks(document.querySelector("#furo-main-content")).filter(one => !one.matches(":empty:not(img, hr)"));
  deck.className = "slides";
  deck.style.setProperty("--wide", `${WIDTH}px`);
  deck.style.setProperty("--high", `${HEIGHT}px`);
  document.body.append(deck);
  document.documentElement.classList.add("shows-slides");
  paginate(found, deck);
  bar.innerHTML = '<button type="button" aria-label="Previous slide">←</button> <output></output> <button type="button" aria-label="Next slide">→</button> <a>Page</a>';
  const [back, forward] = bar.querySelectorAll("button");
  bar.querySelector("a").href = location.pathname;
  deck.append(bar);
  const slides = [...deck.querySelectorAll(":scope > section")];
  let at = 0;
  const go = to => {
    at = Math.max(0, Math.min(slides.length - 1, to));
    slides.forEach((slide, place) => slide.classList.toggle("shown", place === at));
    bar.querySelector("output").value = `${at + 1} / ${slides.length}`;
    back.disabled = at === 0;
    forward.disabled = at === slides.length - 1;
    history.replaceState(null, "", `#${at + 1}`);
  };
  const fit = () => deck.style.setProperty("--size", Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
  const keys = {ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1, Home: -Infinity, End: Infinity};
  back.addEventListener("click", () => go(at - 1));
  forward.addEventListener("click", () => go(at + 1));
  addEventListener("keydown", event => {
    if (event.target.closest("input, button, a, summary") && !event.key.startsWith("Page") || !(event.key in keys)) return;
    event.preventDefault();
    go(at + keys[event.key]);
  });
  addEventListener("resize", fit);
  fit();
  go((parseInt(location.hash.slice(1)) || 1) - 1);
}

if (new URLSearchParams(location.search).has("slides")) addEventListener("load", show);
