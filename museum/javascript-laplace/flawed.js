// A count with Laplace noise by the inverse of its distribution function, through the protocol of docs/protocol.md.
const sign = (x) => (x < 0 ? -1 : 1);

function laplace(mu, b) {
  const U = Math.random() - 0.5;
  return mu - b * sign(U) * Math.log(1 - 2 * Math.abs(U));
}

const release = (records) => laplace(records.filter(Boolean).length, 1.0);

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  const answer = request.protocol
    ? { protocol: 1 }
    : { outcomes: Array.from({ length: request.runs }, () => release(request.data)) };
  console.log(JSON.stringify(answer));
});
