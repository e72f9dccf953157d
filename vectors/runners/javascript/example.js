// A subject for runner.js: randomized response and a trial of probability e^-gamma, three maps, two queries.
// With FLAWED=1 each of them has a flaw that was found in a released library.
const flawed = Boolean(process.env.FLAWED);

function uniform(n, take) {
  for (;;) {
    const drawn = take(n.toString(2).length);
    if (drawn < n) return drawn;
  }
}

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const coin = (top, bottom, take) => uniform(bottom / gcd(top, bottom), take) < top / gcd(top, bottom);
const fraction = (text) => text.split("/").concat("1").slice(0, 2).map(BigInt);

function trial(top, bottom, take) {
  for (; top > bottom; top -= bottom) if (!trial(1n, 1n, take)) return 0;
  let k = 1n;
  while (coin(top, bottom * k, take)) k++;
  return Number(k % 2n);
}

function response({ categories, truth, probability }, take) {
  if (coin(...fraction(probability), take)) return truth;
  const lie = Number(uniform(BigInt(categories) - (flawed ? 0n : 1n), take));
  return flawed ? lie : lie + (lie >= truth ? 1 : 0);
}

const clamp = (x, { lower, upper }) => (x >= lower ? (x > upper ? upper : x) : lower);

module.exports = {
  streams: {
    "bernoulli-exp": ({ gamma }, take) => trial(...fraction(gamma), take),
    "randomized-response": response,
  },
  draws: {
    "randomized-response": ({ categories, truth, probability }, n) => {
      const [top, bottom] = fraction(probability).map(Number);
      const lie = () => Math.floor(Math.random() * (categories - 1));
      const one = () => (Math.random() * bottom < top ? truth : ((l) => l + (flawed || l < truth ? 0 : 1))(lie()));
      return Array.from({ length: n }, one);
    },
  },
  maps: {
    "gaussian-zcdp": ({ sigma }) => (flawed ? 1 / (4 * sigma * sigma) : 1 / (2 * sigma * sigma)),
    "laplace-accuracy": ({ scale, alpha }) => scale * Math.log(1 / alpha),
    exponential: ({ scale }) => 2 / scale,
  },
  queries: {
    count: (parameters, records) => (flawed ? records.filter((x) => x === x).length : records.length),
    "sized-sum": (parameters, records) => records.map((x) => clamp(x, parameters)).reduce((a, b) => a + b, 0),
  },
};
