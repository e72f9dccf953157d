// Holds a library against the vectors: node runner.js ../../1 SUBJECT.js. Attacks are held by python/runner.py.
// SUBJECT.js exports some of these objects; what is not in them is skipped. They may return null, to skip a test, or throw,
// where they refuse the parameters; but a stream must not, draws must not for some random bits alone, and a query must not
// for one dataset alone.
//   streams[sampler](parameters, take), take(k) being the next k bits as a BigInt; draws[sampler](parameters, n);
//   maps[kind](parameters); queries[query](parameters, records), and bounds[query](parameters, bound) of the library's own.
// Exit code: 1 if a test fails; 2 if SUBJECT.js breaks, answers no test at all, or has a function that no test asks for or
// that answers none of its own.
const fs = require("fs"), path = require("path"), { called, number, stability } = require("./stability.js");

const TOLERANCE = 1e-4; // the share of its bound that a map may miss by rounding

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
  const outcomes = called(f, test.parameters, test.draws);
  // A refusal does not depend on random bits: one draw throws too.
  if (outcomes instanceof Error) return called(f, test.parameters, 1) instanceof Error ? outcomes : String(outcomes);
  if (outcomes === null) return null;
  for (const { from, to, least, most } of test.events) {
    const count = outcomes.filter((one) => (from === null || one >= from) && (to === null || one <= to)).length;
    if (count < least || count > most) return `${count} draws from ${from} to ${to}, not ${least} to ${most}`;
  }
  return "";
}

function bound(f, test) {
  const said = called(f, test.parameters);
  if (said instanceof Error) return said;
  if (said === null || Number.isNaN(said)) return null;
  return Math.max(said, 0) >= number(test.low) * (1 - TOLERANCE) ? "" : `${said} is less than ${test.low}`;
}

// Returns the judge of a test, and the object with the function that it is about.
function asked(name, test) {
  if (name === "samplers") return test.kind === "stream" ? [stream, "streams"] : [law, "draws"];
  return name === "maps" ? [bound, "maps"] : [stability, "queries"];
}

if (process.argv.length < 4) {
  console.error("node runner.js FOLDER SUBJECT.js, where FOLDER is vectors/1");
  process.exit(2);
}
let subject;
try {
  subject = require(path.resolve(process.argv[3]));
} catch (error) {
  console.error(error);
  process.exit(2);
}
const wrong = [];
let failed = 0, passed = 0;
for (const name of ["samplers", "maps", "stability"]) {
  const counts = { passed: 0, failed: 0, threw: 0, skipped: 0 }, unanswered = {};
  for (const test of JSON.parse(fs.readFileSync(path.join(process.argv[2], `${name}.json`), "utf8")).tests) {
    const [judge, where] = asked(name, test);
    const f = (subject[where] || {})[test.function];
    let why, error = null;
    try {
      why = f ? judge(f, test, subject) : null;
    } catch (thrown) {
      why = `it throws ${thrown}`; // a stream wants more bits, or what should be a number is none
    }
    if (why instanceof Error) [why, error] = [null, String(why)];
    if (why) console.log(`FAILED ${test.id} ${JSON.stringify(test.parameters).slice(0, 200)}: ${why}`);
    counts[why ? "failed" : why === "" ? "passed" : error ? "threw" : "skipped"]++;
    ((unanswered[where] ??= {})[test.function] ??= []).push(why === null ? error || "it returns null" : "");
  }
  for (const where in unanswered)
    for (const key in subject[where] || {}) {
      const reasons = unanswered[where][key] || ["no test asks for it"];
      if (reasons.every(Boolean)) wrong.push(`WRONG ${where}.${key} answers no test: ${reasons[0]}`);
    }
  console.log(`${name}: ${Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ")}`);
  [failed, passed] = [failed + counts.failed, passed + counts.passed];
}
if (!failed && !passed && !wrong.length) wrong.push(`WRONG ${process.argv[3]} answers no test`);
for (const line of wrong) console.log(line);
process.exitCode = failed ? 1 : wrong.length ? 2 : 0;
