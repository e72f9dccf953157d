/* A naive Laplace mechanism that speaks the protocol of docs/protocol.md, for data that are one number.
   cc -std=c11 -o laplace_target laplace_target.c -lm */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *entropy;

static uint64_t random_word(void) {
    uint64_t word;
    if (fread(&word, sizeof word, 1, entropy) != 1) {
        fprintf(stderr, "/dev/urandom cannot be read\n");
        exit(1);
    }
    return word;
}

/* Uniform on the multiples of 2^-53 in (0, 1]; then textbook noise. %a prints every bit of it. */
static double laplace(double scale) {
    uint64_t word = random_word();
    double uniform = (double)((word >> 11) + 1) * 0x1p-53;
    double noise = -scale * log(uniform);
    return word & 1 ? noise : -noise;
}

/* Enough of JSON for requests whose data are a number. Integers beyond 2^53 come as strings. */
static double field(const char *line, const char *name) {
    const char *found = strstr(line, name);
    char *end;
    if (found) {
        found += strlen(name);
        found += strspn(found, ": \"");
        double value = strtod(found, &end);
        if (end != found) return value;
    }
    fprintf(stderr, "no number %s\n", name);
    exit(1);
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    entropy = fopen("/dev/urandom", "rb");
    if (!entropy) return 1;
    while (getline(&line, &size, stdin) > 0) {
        if (strstr(line, "\"protocol\"")) {
            puts("{\"protocol\": 1}");
        } else {
            double value = field(line, "\"data\"");
            double scale = 1 / field(line, "\"epsilon\"");
            long runs = (long)field(line, "\"runs\"");
            printf("{\"outcomes\": [");
            for (long run = 0; run < runs; run++)
                printf("%s\"%a\"", run ? ", " : "", value + laplace(scale));
            puts("]}");
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
