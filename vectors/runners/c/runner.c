/* Holds a library in C against the vectors, from their lines of text: samplers, maps, and queries with one number.
   cc -std=c11 -DSUBJECT='"example.c"' -o runner runner.c -lm && ./runner ../../1/samplers.txt …
   SUBJECT has `sample`, `map` and `query`, as example.c. Exit code: 1 if a test fails, 2 if none is answered. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 16];
static long position, consumed, wanted_too_much;

/* The text behind " name=" in the line, up to the next space; NULL where there is none. */
static const char *word(const char *name) {
    size_t length = strlen(name);
    for (const char *at = line; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (!strncmp(at, name, length) && at[length] == '=') return at + length + 1;
    return NULL;
}
static double number(const char *name) { return word(name) ? strtod(word(name), NULL) : NAN; }
static int is(const char *name, const char *value) {
    const char *at = word(name);
    return at && !strncmp(at, value, strlen(value)) && strchr(" \n", at[strlen(value)]);
}
/* The next k bits, the first one most significant: of the test, or, where it has no bits, at random. */
static uint64_t take(int k) {
    static FILE *entropy;
    uint64_t value = 0;
    const char *bits = word("bits");
    if (!bits && !entropy) entropy = fopen("/dev/urandom", "rb");
    for (int byte = 0; k--; value = 2 * value + (uint64_t)byte)
        if (bits && position >= consumed) wanted_too_much = 1, byte = (int)(position++ & 1);
        else if (bits) byte = (int)strtol((char[]){bits[position / 4], 0}, NULL, 16) >> (3 - position % 4) & 1, position++;
        else byte = fgetc(entropy) & 1;
    return value;
}

#include SUBJECT /* the library under test: each function returns 0 where it has no such function */

static int stream(double *outcome) {
    position = wanted_too_much = 0, consumed = (long)number("consumed");
    return sample(outcome) ? 1 + !(*outcome == number("outcome") && position == consumed && !wanted_too_much) : 0;
}
static int law(double *outcome) {
    long draws = (long)number("draws"), events = 1, counts[64] = {0};
    double low[64], high[64], least[64], most[64];
    char *at = (char *)word("events"), *comma = at;
    while ((comma = strchr(comma, ',')) && ++comma) events++;
    for (long i = 0; i < events; i++, at++) {
        low[i] = *at == '-' && at[1] == ':' ? (at++, -INFINITY) : strtod(at, &at);
        high[i] = at[1] == '-' && at[2] == ':' ? (at += 2, INFINITY) : strtod(at + 1, &at);
        least[i] = strtod(at + 1, &at), most[i] = strtod(at + 1, &at);
    }
    for (long draw = 0; draw < draws; draw++) {
        if (!sample(outcome)) return 0;
        for (long i = 0; i < events; i++) counts[i] += low[i] <= *outcome && *outcome <= high[i];
    }
    for (long i = 0; i < events; i++) if (counts[i] < least[i] || counts[i] > most[i]) return 2;
    return 1;
}
static int bound(double *said) { /* a ten-thousandth may be rounding */
    return !map(said) || isnan(*said) ? 0 : 1 + !(fmax(*said, 0) >= number("low") * (1 - 1e-4));
}
/* Reads a dataset, `count*record,...`; returns 0 where a record is no number or there are too many. */
static int dataset(const char *name, double *records, size_t *count) {
    char *at = (char *)word(name);
    for (*count = 0; *at != ' ' && *at != '\n'; at += *at == ',') {
        long repeated = strtol(at, &at, 10);
        for (double record = strtod(at + 1, &at); repeated--; records[(*count)++] = record)
            if (*count == 1 << 17) return 0;
        if (!strchr(", \n", *at)) return 0;
    }
    return 1;
}
static int stability(double *one) {
    static double records[1 << 17], other;
    static size_t count;
    if (!is("distance", "l1") || !dataset("in", records, &count) || !query(records, count, one)) return 0;
    if (!dataset("out", records, &count) || !query(records, count, &other)) return 0;
    volatile double high = fmax(*one, other), low = fmin(*one, other), apart = high - low, part = apart - high;
    int rounded_down = (high - (apart - part)) + (-low - part) > 0; /* Dekker's TwoSum: what the difference leaves out */
    return 1 + !(*one == other || apart < number("bound") || (apart == number("bound") && !rounded_down));
}

int main(int given, char **files) {
    int failed = 0, passed = 0, missing = 0;
    for (int i = 1; i < given; i++) {
        int counts[3] = {0};
        FILE *file = fopen(files[i], "r");
        while (file && fgets(line, sizeof line, file)) {
            double shown = 0;
            int verdict = (is("kind", "stream") ? stream : is("kind", "law") ? law : word("distance") ? stability : bound)(&shown);
            counts[verdict]++;
            if (verdict == 2) printf("FAILED %.17g: %.200s\n", shown, line);
        }
        failed |= counts[2] > 0, passed |= counts[1] > 0, missing |= !file;
        printf("%s: %d passed, %d failed, %d skipped\n", files[i], counts[1], counts[2], counts[0]);
    }
    return missing ? 2 : failed ? 1 : passed ? 0 : 2;
}
