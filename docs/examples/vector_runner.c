/* Runs an attack vector of the family `exponential` on a sampler of selections, and judges it by itself.
   cc -std=c11 -o vector_runner vector_runner.c -lm
   ./vector_runner zero-rounding.json naive   (or `shifted`: the best utility moved to 0 first)
   Exit code: 1 violated, 0 not refuted, 2 a mistake. A sound sampler is accused with a chance of at most 10^-6. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 100000
#define ALPHA 1e-6

static double uniform(void) {
    static FILE *entropy;
    uint64_t word;
    if (!entropy) entropy = fopen("/dev/urandom", "rb");
    if (!entropy || fread(&word, sizeof word, 1, entropy) != 1) exit(2);
    return (double)(word >> 11) * 0x1p-53;
}

/* The mechanism under attack: inversion over running sums of e^(-eps u / 2), as textbooks have it. Replace it. */
static size_t selected(const double *utility, size_t count, double epsilon, int shifted, double *sums) {
    double least = INFINITY, total = 0;
    for (size_t i = 0; i < count; i++) least = fmin(least, utility[i]);
    for (size_t i = 0; i < count; i++)
        sums[i] = total += exp(-epsilon * (utility[i] - (shifted ? least : 0)) / 2);
    double point = uniform();
    for (size_t i = 0; i < count; i++)
        if (point < sums[i] / total) return i;
    return count - 1;
}

/* What follows the first `inner` after the first `outer`, or that `outer` itself: good for these files, not for JSON. */
static const char *behind(const char *text, const char *outer, const char *inner) {
    const char *found = strstr(text, outer);
    if (found && inner) found = strstr(found, inner);
    if (!found) {
        fprintf(stderr, "no %s in the vector\n", inner ? inner : outer);
        exit(2);
    }
    return found + strlen(inner ? inner : outer) + 1;
}

/* A world is {"type": ..., "length": n, "runs": [[how many, value], ...]}. */
static double *world(const char *text, const char *name, size_t *count) {
    *count = strtoul(behind(text, name, "\"length\""), NULL, 10);
    double *data = malloc(*count * sizeof *data);
    char *at = (char *)behind(text, name, "\"runs\"");
    for (size_t filled = 0; data && filled < *count;) {
        at += strcspn(at, "0123456789-");
        size_t repeated = strtoul(at, &at, 10);
        at += strcspn(at, "0123456789-");
        double value = strtod(at, &at);
        while (repeated-- && filled < *count) data[filled++] = value;
    }
    if (!data) exit(2);
    return data;
}

/* How often one of the event's outcomes is selected. */
static double share(const char *text, const char *name, const char *event, double epsilon, int shifted) {
    size_t count, hits = 0;
    double *data = world(text, name, &count), *sums = malloc(count * sizeof *sums);
    for (int run = 0; sums && run < RUNS; run++) {
        size_t outcome = selected(data, count, epsilon, shifted, sums);
        for (char *at = (char *)event; *at && *at != ']';) {
            at += strcspn(at, "0123456789]");
            if (*at != ']') hits += strtoul(at, &at, 10) == outcome;
        }
    }
    free(data), free(sums);
    return (double)hits / RUNS;
}

int main(int given, char **argument) {
    static char text[1 << 20];
    FILE *file = given == 3 ? fopen(argument[1], "rb") : NULL;
    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        fprintf(stderr, "usage: vector_runner VECTOR.json naive|shifted\n");
        return 2;
    }
    behind(text, "\"kind\"", "\"one-of\"");
    const char *event = behind(text, "\"event\"", "\"outcomes\"");
    const char *claimed = behind(behind(text, "\"claim\"", "\"epsilon\""), "\"hex\"", NULL);
    double epsilon = strtod(claimed + strspn(claimed, " \""), NULL);
    int shifted = !strcmp(argument[2], "shifted");
    double in = share(text, "\"data_in\"", event, epsilon, shifted);
    double out = share(text, "\"data_out\"", event, epsilon, shifted);
    /* Hoeffding, a quarter of ALPHA for each of four tails; then the event and its complement, both ways around. */
    double margin = sqrt(log(4 / ALPHA) / (2.0 * RUNS)), factor = exp(epsilon);
    int violated = in - margin > factor * (out + margin) || out - margin > factor * (in + margin) ||
                   1 - in - margin > factor * (1 - out + margin) || 1 - out - margin > factor * (1 - in + margin);
    printf("event: in %.5f, out %.5f; margin %.5f; claimed epsilon %g: %s\n", in, out, margin, epsilon,
           violated ? "VIOLATED" : "NOT REFUTED");
    return violated;
}
