// The judge of a query: how far apart the answers to two neighbouring datasets are, against what is promised.
const NUMBERS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

// Integers beyond 2^53 are texts: they become BigInt. So do infinities and NaN.
const number = (value) =>
  typeof value !== "string" ? value : value in NUMBERS ? NUMBERS[value] : /^-?\d+$/.test(value) ? BigInt(value) : value;

// Returns what a function of the subject returns, or the error that it throws.
function called(f, ...values) {
  try {
    return f(...values);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function stability(f, test, subject) {
  const entries = Object.entries(test.parameters).map(([name, value]) => [name, number(value)]);
  const parameters = Object.fromEntries(entries), text = test.function.includes("of-numbers");
  const answers = [test.in, test.out].map((runs) => {
    const records = runs.flatMap(([count, value]) => Array(count).fill(text ? value : number(value)));
    return called(f, parameters, records);
  });
  const raised = answers.filter((answer) => answer instanceof Error).length;
  if (raised === 2 || answers.includes(null)) return raised === 2 ? answers[0] : null;
  if (raised) return "it throws for one dataset";
  const own = (subject.bounds || {})[test.function];
  const promised = own ? own(parameters, number(test.bound)) : number(test.bound);
  const apart = distance(test.distance, ...answers);
  return apart <= promised ? "" : `${answers.join(" and ")} are ${apart} apart, more than ${promised}`;
}

function distance(kind, one, other) {
  if (kind === "multiset") {
    const count = (list, record) => list.filter((each) => each === record).length;
    return [...new Set([...one, ...other])].reduce((sum, x) => sum + Math.abs(count(one, x) - count(other, x)), 0);
  }
  const [a, b] = [one, other].map((answer) => (Array.isArray(answer) ? answer : [answer]));
  if (a.length !== b.length) return Infinity;
  const parts = a.map((x, place) => apart(x, b[place]));
  return kind === "l2" ? Math.hypot(...parts) : kind === "linf" ? Math.max(...parts) : parts.reduce((x, y) => x + y);
}

// A difference that was rounded down to the bound is larger than it: its error, by Dekker's TwoSum, is added as one unit.
function apart(x, y) {
  if (typeof x === "bigint") return Number(x > y ? x - y : y - x);
  if (Object.is(x, y) || x === y) return 0;
  const [high, low] = x > y ? [x, y] : [y, x], difference = high - low, part = difference - high;
  const error = high - (difference - part) + (-low - part);
  return Number.isNaN(difference) ? Infinity : error > 0 ? difference * (1 + Number.EPSILON) : difference;
}

module.exports = { called, number, stability };
