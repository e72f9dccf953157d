#!/bin/sh
# A naive Laplace mechanism in awk that speaks the protocol of docs/protocol.md, for data that are one number.
# How floats are printed is its first argument: %.17g (exact) unless told; %g rounds, and a note of the check says so.
format=${1:-%.17g}
while IFS= read -r line; do
  # awk's own seed is the clock, in seconds: two requests of the same second would get the same noise. Seeds above 2^31 are one.
  seed=$(od -An -N4 -tu4 /dev/urandom)
  printf '%s\n' "$line" | awk -v seed="$seed" -v format="$format" '
    function field(name) {
      if (!match($0, "\"" name "\": \"?[-+.0-9eE]+")) { print "no number " name > "/dev/stderr"; exit 1 }
      text = substr($0, RSTART, RLENGTH); sub(/^[^:]*: "?/, "", text)
      return text + 0
    }
    /"protocol"/ { print "{\"protocol\": 1}"; exit }
    {
      srand(seed % 2147483647); runs = field("runs"); value = field("data"); scale = 1 / field("epsilon")
      printf "{\"outcomes\": ["
      for (run = 0; run < runs; run++) {
        do uniform = rand(); while (uniform == 0)
        noise = -scale * log(uniform)
        printf "%s" format, run ? ", " : "", rand() < 0.5 ? value + noise : value - noise
      }
      print "]}"
    }' || exit 1
done
