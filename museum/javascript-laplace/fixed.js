// A count with discrete Laplace noise from integers alone (Canonne, Kamath and Steinke 2020, Algorithm 2, at scale 1).
const { randomInt } = require("crypto");

// True with probability e^-1: the number of heads in a row, of coins 1/1, 1/2, 1/3, ..., is even.
function bernoulliExp() {
  let k = 1;
  while (randomInt(k) === 0) k += 1;
  return k % 2 === 1;
}

function noise() {
  for (;;) {
    let size = 0;
    while (bernoulliExp()) size += 1;
    const negative = randomInt(2) === 1;
    if (!(negative && size === 0)) return negative ? -size : size;
  }
}

const release = (records) => records.filter(Boolean).length + noise();

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  const answer = request.protocol
    ? { protocol: 1 }
    : { outcomes: Array.from({ length: request.runs }, () => release(request.data)) };
  console.log(JSON.stringify(answer));
});
