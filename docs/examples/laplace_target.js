// A naive Laplace mechanism that speaks the protocol of docs/protocol.md, for data that are one number.
//   subnormal check "cmd: node laplace_target.js" --in 1 --out 0 --epsilon 1
const { randomBytes } = require("crypto");
const lines = require("readline").createInterface({ input: process.stdin });

// Uniform on the multiples of 2^-48 in (0, 1]; then textbook noise. JSON.stringify writes every bit of a float.
function laplace(scale) {
  const noise = -scale * Math.log((randomBytes(6).readUIntBE(0, 6) + 1) / 2 ** 48);
  return randomBytes(1)[0] & 1 ? noise : -noise;
}

lines.on("line", (line) => {
  const request = JSON.parse(line);
  if ("protocol" in request) {
    console.log('{"protocol": 1}');
  } else {
    const { data, parameters, runs } = request;
    const outcomes = Array.from({ length: runs }, () => data + laplace(1 / parameters.epsilon));
    console.log(JSON.stringify({ outcomes }));
  }
});
