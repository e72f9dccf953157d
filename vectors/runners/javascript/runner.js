// Holds a library against the vectors: node runner.js ../../1 SUBJECT.js. Attacks are held by python/runner.py.
// SUBJECT.js exports some of these objects; what is not in them is skipped. All but draws may return null, to skip a test.
//   streams[sampler](parameters, take), take(k) being the next k bits as a BigInt; draws[sampler](parameters, n);
//   maps[kind](parameters); queries[query](parameters, records), and bounds[query](parameters, bound) of the library's own.
// Exit code: 1 if a test fails.
const fs = require("fs"), path = require("path");

const TOLERANCE = 1e-4; // the share of its bound that a map may miss by rounding
const NUMBERS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

// Integers beyond 2^53 are texts: they become BigInt. So do infinities and NaN.
const number = (value) =>
  typeof value !== "string" ? value : value in NUMBERS ? NUMBERS[value] : /^-?\d+$/.test(value) ? BigInt(value) : value;

function stream(f, test) {
  const digits = [...test.bits].map((digit) => parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  const bits = digits.slice(0, test.consumed);
  let place = 0;
  const take = (k) => {
    if ((place += k) > bits.length) throw new Error("it wants more bits");
    return k ? BigInt("0b" + bits.slice(place - k, place)) : 0n;
  };
  const outcome = f(test.parameters, take);
  if (outcome === null) return null;
  return Number(outcome) === test.outcome && place === bits.length ? "" : `${outcome} instead of ${test.outcome}`;
}

function law(f, test) {
  const outcomes = f(test.parameters, test.draws);
  for (const { from, to, least, most } of test.events) {
    const count = outcomes.filter((one) => (from === null || one >= from) && (to === null || one <= to)).length;
    if (count < least || count > most) return `${count} draws from ${from} to ${to}, not ${least} to ${most}`;
  }
  return "";
}

function bound(f, test) {
  const said = f(test.parameters);
  if (said === null || Number.isNaN(said)) return null;
  return Math.max(said, 0) >= number(test.low) * (1 - TOLERANCE) ? "" : `${said} is less than ${test.low}`;
}

function stability(f, test, subject) {
  const entries = Object.entries(test.parameters).map(([name, value]) => [name, number(value)]);
  const parameters = Object.fromEntries(entries), text = test.function.includes("of-numbers");
  const answers = [test.in, test.out].map((runs) => {
    const records = runs.flatMap(([count, value]) => Array(count).fill(text ? value : number(value)));
    try {
      return f(parameters, records);
    } catch (error) {
      return error;
    }
  });
  const raised = answers.filter((answer) => answer instanceof Error).length;
  if (raised === 2 || answers.includes(null)) return null;
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

const judges = { samplers: null, maps: [bound, "maps"], stability: [stability, "queries"] };
const subject = require(path.resolve(process.argv[3]));
for (const [name, judge] of Object.entries(judges)) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const test of JSON.parse(fs.readFileSync(path.join(process.argv[2], `${name}.json`), "utf8")).tests) {
    const [one, where] = judge || (test.kind === "stream" ? [stream, "streams"] : [law, "draws"]);
    const f = (subject[where] || {})[test.function];
    let why;
    try {
      why = f ? one(f, test, subject) : null;
    } catch (error) {
      why = one === bound ? null : String(error); // a map may refuse its parameters
    }
    if (why) console.log(`FAILED ${test.id} ${JSON.stringify(test.parameters).slice(0, 200)}: ${why}`);
    counts[why === null ? "skipped" : why ? "failed" : "passed"]++;
    if (why) process.exitCode = 1;
  }
  console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
}
