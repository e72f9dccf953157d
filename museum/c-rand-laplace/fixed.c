/* An integer with discrete Laplace noise of scale 1 from integers alone (Canonne, Kamath and Steinke 2020, Algorithm 2). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *source;

/* A uniform integer below n, by rejection. */
static uint32_t below(uint32_t n) {
    uint32_t word, limit = UINT32_MAX - UINT32_MAX % n;
    do {
        if (fread(&word, sizeof word, 1, source) != 1) exit(1);
    } while (word >= limit);
    return word % n;
}

/* True with probability e^-1: the number of heads in a row, of coins 1/1, 1/2, 1/3, ..., is even. */
static int bernoulli_exp(void) {
    uint32_t k = 1;
    while (below(k) == 0) k++;
    return k % 2 == 1;
}

static long noise(void) {
    for (;;) {
        long size = 0;
        while (bernoulli_exp()) size++;
        int negative = below(2);
        if (!(negative && size == 0)) return negative ? -size : size;
    }
}

int main(void) {
    char line[4096];
    source = fopen("/dev/urandom", "rb");
    if (source == NULL) return 1;
    while (fgets(line, sizeof line, stdin)) {
        char *data = strstr(line, "\"data\": "), *runs = strstr(line, "\"runs\": ");
        if (data == NULL || runs == NULL) {
            puts("{\"protocol\": 1}");
        } else {
            long value = strtol(data + 8, NULL, 10), left = strtol(runs + 8, NULL, 10);
            printf("{\"outcomes\": [");
            for (; left > 0; left--) printf("%ld%s", value + noise(), left > 1 ? ", " : "");
            puts("]}");
        }
        fflush(stdout);
    }
    return 0;
}
